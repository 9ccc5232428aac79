// What is exported as the 404 page.

import { Article } from './article.jsx';

export default function Page() {
  return <Article title="Not found" />;
}
