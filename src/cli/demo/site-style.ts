// How the demo's docs site looks: its style sheet and its picture. Owns these two texts. Refuses fonts and scripts, which a
// site of eight pages does not need.

export const styles = `:root { color-scheme: light dark; --ink: #1f2937; --soft: #6b7280; --line: #e5e7eb; --paper: #fff; --wash: #f3f7f6; --accent: #0f766e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5e7eb; --soft: #9ca3af; --line: #2b3440; --paper: #11161d; --wash: #182029; --accent: #5eead4; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 17px/1.65 system-ui, sans-serif; min-height: 100vh; display: flex; flex-direction: column; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
header, footer { padding: 14px max(32px, calc((100vw - 1080px) / 2 + 44px)); }
header { display: flex; justify-content: space-between; align-items: center; border-bottom: 1px solid var(--line); }
.brand { display: flex; gap: 10px; align-items: center; font-weight: 600; color: var(--ink); }
.edition { font-size: 14px; padding: 2px 12px; border-radius: 99px; color: var(--accent); background: var(--wash); border: 1px solid var(--line); }
.page { display: flex; flex: 1; width: 100%; max-width: 1080px; margin: 0 auto; }
nav { flex: 0 0 230px; padding: 36px 16px 36px 32px; border-right: 1px solid var(--line); font-size: 15px; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 5px 12px; border-radius: 6px; color: var(--soft); }
nav a[aria-current] { color: var(--accent); background: var(--wash); font-weight: 600; }
main { flex: 1; min-width: 0; padding: 36px 40px 64px; }
h1 { margin: 0 0 16px; font-size: 34px; line-height: 1.2; letter-spacing: -0.02em; }
.lead { font-size: 19px; color: var(--soft); }
main img { max-width: 100%; height: auto; margin: 12px 0 20px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 14px; }
.cards a { padding: 16px 18px; border: 1px solid var(--line); border-radius: 10px; color: var(--soft); font-size: 15px; line-height: 1.5; }
.cards a:hover { border-color: var(--accent); text-decoration: none; }
.cards b { display: block; color: var(--ink); font-size: 16px; margin-bottom: 4px; }
code, pre { font: 15px/1.6 ui-monospace, monospace; background: var(--wash); border-radius: 6px; }
code { padding: 2px 6px; }
pre { padding: 14px 18px; overflow-x: auto; border: 1px solid var(--line); }
blockquote { margin: 20px 0; padding: 4px 20px; border-left: 3px solid var(--accent); color: var(--soft); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 8px 12px; border-bottom: 1px solid var(--line); }
footer { border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }
@media (max-width: 720px) { .page { flex-direction: column; } nav { border-right: 0; padding: 16px; flex: none; } main { padding: 20px; } }
`;

const steps = ['your site', 'export', 'checks', 'bundle', 'readers'];

const boxes = steps.map((step, at) => {
  const left = 10 + at * 144;
  const arrow = `<path d="M${left + 112} 40h24m-7-6 7 6-7 6" fill="none" stroke="#0f766e" stroke-width="2"/>`;
  return `<rect x="${left}" y="10" width="108" height="60" rx="10" fill="#e6f4f1" stroke="#0f766e"/>
<text x="${left + 54}" y="46" text-anchor="middle" font-family="system-ui, sans-serif" font-size="17" fill="#134e4a">${step}</text>
${at + 1 < steps.length ? arrow : ''}`;
});

export const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 696 80" width="696" height="80">
${boxes.join('\n')}
</svg>
`;
