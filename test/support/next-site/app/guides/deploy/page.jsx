// Its neighbour.

import { Article } from '../../article.jsx';

export default function Page() {
  return <Article title="Deploy" />;
}
