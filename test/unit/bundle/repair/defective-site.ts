// One site with each defect that a rule repairs, in each spelling that a rule reads, and with what a rule must leave. Fixed: each
// revision of a rule stands for what the rule makes of it.

const hosts = ['undefined.docs.example.com', 'undefined', 'null', 'undefined:8080', 'docs.example.com'];
const canonical = hosts.flatMap((host, at) => [
  `<link rel="canonical" href="https://${host}/a/${at}">`,
  `<link href='http://${host}/b?q=${at}' rel='alternate canonical'>`,
  `<meta property="og:url" content="//${host}/c/${at}#d"><meta name=twitter:image content=https://${host}/${at}.png>`,
  `<META CONTENT="https://${host}" PROPERTY="og:image"><link rel="icon" href="https://${host}/icon.svg">`,
]);
const lone = ['undefined', 'null/x', ' undefined ', 'undefined-name'].map(
  (text) => `<meta property="og:url" content="${text}"><meta property="og:video" content="${text}">`,
);

const boxes: readonly string[] = [
  '<button id="search-bar-entry">Search</button><div class="chat-assistant-floating-input x"></div>',
  '<site-search><button>Search</button></site-search>',
  '<div class="nextra-search"></div><div id="local-search"></div>',
  '<div class="md-search" data-x="1"></div><button id=search-toggle></button>',
  '<button class="rm-SearchToggle"></button><div id="kapa-widget-container"></div>',
];

const relative: readonly string[] = [
  '<a href="a.html">a</a><a href="../b/">b</a><a href="/c">c</a><a href="#d">d</a><a href="https://e.example/">e</a>',
  '<img src=f.png srcset="g.png 1x, h.png 2x, /i.png 3x"><video poster="j.jpg"><source src="k.mp4"></video>',
  `<style>@import "l.css"; a { background: url(m.png) url('n.png') url(data:,) }</style><p style="background:url(o.png)">`,
  '<form action="p"><button formaction="q"></button></form><meta http-equiv="refresh" content="3; url=r.html">',
  '<svg><use href="s.svg#t"/><image xlink:href="u.png"/></svg><object data="v.pdf"></object><script>"w.html"</script>',
];

const page = (head: string, body: string): string =>
  `<!doctype html><html><head><title>A</title>${head}</head><body>${body}</body></html>`;
const entry = (address: string): string =>
  `<url><loc>https://docs.example.com${address}</loc><lastmod>2026-01-01</lastmod></url>`;

export const defectiveSite: Readonly<Record<string, string>> = {
  'index.html': page(
    canonical.join('\n'),
    `<a href="/guide">Guide</a><a href="deep/er">Deeper</a>${boxes[0]}`,
  ),
  'about.html': page(lone.join('\n'), boxes[1] ?? ''),
  'a b/é.html': page(`${canonical[0]}${lone[0]}`, boxes[2] ?? ''),
  'bare.html': `${canonical[1]}${boxes[3]}`,
  'late.html': `<body><p>${'text '.repeat(4000)}</p>${boxes[4]}`,
  'guide/index/index.html': page('', relative.join('')),
  'guide/index/a.html': page('<base href="../">', relative[0] ?? ''),
  'deep/er/index/index/index.html': page('<base href="x/">', `<a href="/deep/er/index">up</a>${relative[1]}`),
  'unlinked/index/index.html': page('', relative[0] ?? ''),
  'sitemap.xml': `<?xml version="1.0"?><urlset>\n${[
    ...['/', '/index.html', '/about', '/about/', '/about.html', '/guide/index', '/guide/index/', '/gone?x=1'],
    ...['/a%20b/%C3%A9', '/bare/index', '/late.html#x', '/late'],
  ]
    .map(entry)
    .join(
      '\n',
    )}\n<!-- <url> --><url><loc><![CDATA[https://docs.example.com/about/index.html]]></loc></url></urlset>`,
  'sub/sitemap-0.xml': `<urlset>${['/a', '/b', '/about/'].map(entry).join('')}</urlset>`,
  'sitemap_index.xml': `<sitemapindex><sitemap>${entry('/sitemap.xml')}</sitemap></sitemapindex>`,
  'serve.js': 'http',
  'start.bat': 'node serve.js',
  'start.command': 'node serve.js',
  'sub/serve.js': 'http',
  'sub/Start.sh': 'node',
  ...{ '__MACOSX/._index.html': 'x', '.DS_Store': 'x', 'sub/desktop.ini': 'x', '._about.html': 'x' },
};
