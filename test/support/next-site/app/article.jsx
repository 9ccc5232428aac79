// The body of a page, rendered when the site is built: its title, and the version that it is of.

export function Article({ title }) {
  return (
    <article data-content={process.env.SITE_VERSION}>
      <h1>{title}</h1>
      <p>This is version {process.env.SITE_VERSION} of this page.</p>
    </article>
  );
}
