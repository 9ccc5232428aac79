// A page that is a folder of others too.

import { Article } from '../article.jsx';

export default function Page() {
  return <Article title="Guides" />;
}
