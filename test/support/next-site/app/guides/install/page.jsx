// A page two levels down.

import { Article } from '../../article.jsx';

export default function Page() {
  return <Article title="Install" />;
}
