// The page of the domain itself.

import { Article } from './article.jsx';

export default function Page() {
  return <Article title="Home" />;
}
