// One page for each name, as a reference made from data is.

import { Article } from '../../article.jsx';

export const dynamicParams = false;
export const generateStaticParams = () => [{ name: 'flags' }, { name: 'metrics' }];

export default async function Page({ params }) {
  const { name } = await params;
  return <Article title={name === 'flags' ? 'Flags' : 'Metrics'} />;
}
