// How the button and the panel look. Sizes are relative to the reader's own size of text, because a page may change what `rem` means.
// Sides are logical, so that a page from right to left is a mirror image. Colours come from the page as `--sx-back` and `--sx-text`. Refuses to reach the page: it is the style of a shadow root.

export const panelStyle = `
:host{all:initial!important;display:contents!important}
*{box-sizing:border-box}
[hidden]{display:none!important}
button,input{font:inherit;color:inherit;margin:0}
svg{width:1.125em;height:1.125em;flex:none;fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round}
.open,dialog{font:400 medium/1.5 var(--sx-font,system-ui,sans-serif);color:var(--sx-text);-webkit-text-size-adjust:100%;
--line:color-mix(in srgb,var(--sx-text) 16%,var(--sx-back));--quiet:color-mix(in srgb,var(--sx-text) 74%,var(--sx-back));
--chosen:color-mix(in srgb,var(--sx-text) 9%,var(--sx-back));--mark:color-mix(in srgb,#f2b705 38%,var(--sx-back))}
.light{color-scheme:light;--shadow:0 0 0 1px #0000000f,0 1.25em 3.5em #1118274d}
.dark{color-scheme:dark;--shadow:0 0 0 1px #ffffff24,0 1.25em 3.5em #000c}
.open{position:fixed;inset-block-end:1.3333em;inset-inline-end:1.3333em;z-index:2147483000;display:flex;align-items:center;gap:.5333em;
min-height:2.9333em;padding:.5333em 1.0667em;border:1px solid var(--line);border-radius:2.1333em;background:var(--sx-back);
box-shadow:0 .2667em 1.0667em #00000026;font-size:.9375em;cursor:pointer}
.open:hover{background:var(--chosen)}
kbd{display:inline-block;direction:ltr;min-width:1.6667em;padding:0 .4em;border:1px solid var(--line);border-radius:.4em;font:inherit;font-size:.85em;
line-height:1.6667em;text-align:center;color:var(--quiet)}
:focus-visible{outline:2px solid var(--sx-text);outline-offset:2px}
dialog{position:fixed;inset:0;width:100%;height:100dvh;max-width:none;max-height:none;margin:0;padding:min(12vh,7em) 1em 1em;border:0;
background:none;overflow:hidden;overscroll-behavior:contain}
dialog::backdrop{background:#0f131a80}
.panel{display:flex;flex-direction:column;width:100%;max-width:42em;max-height:100%;margin-inline:auto;overflow:hidden;
border-radius:.75em;background:var(--sx-back);box-shadow:var(--shadow)}
.head{position:relative;display:flex;align-items:center;gap:.75em;padding-block:.25em;padding-inline:1.125em .5em;flex:none}
.head>svg{color:var(--quiet)}
input{flex:1;min-width:0;height:2.8889em;padding:0;border:0;background:none;font-size:1.125em;outline:0}
input:focus-visible{outline:0}
.head:has(input:focus-visible){box-shadow:inset 0 -1px var(--quiet)}
input::placeholder{color:var(--quiet);opacity:1}
.close{display:grid;place-items:center;width:2.75em;height:2.75em;padding:0;border:0;border-radius:.5em;background:none;color:var(--quiet);cursor:pointer}
.close:hover{background:var(--chosen)}
.close:focus-visible{outline-offset:-2px}
.results{flex:1 1 auto;min-height:0;overflow-y:auto;overscroll-behavior:contain;padding:.5em;border-block-start:1px solid var(--line);scroll-padding:.5em;scrollbar-width:thin;
scrollbar-color:color-mix(in srgb,var(--sx-text) 35%,var(--sx-back)) transparent}
.result{display:block;padding:.625em .75em;border-inline-start:.1875em solid transparent;border-radius:.5em;color:inherit;text-decoration:none;text-align:start;cursor:pointer}
.result>*{text-align:left}
[dir=rtl] .result>*{text-align:right}
.result[aria-selected=true]{background:var(--chosen);border-color:var(--sx-text)}
.crumbs{display:block;font-size:.8125em;line-height:1.4;color:var(--quiet);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.names{display:flex;flex-wrap:wrap;column-gap:.35em;align-items:baseline;overflow-wrap:anywhere}
.title{font-weight:600}
.heading{color:var(--quiet)}
.heading::before{content:"› "}
.excerpt{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;font-size:.875em;line-height:1.5;
color:var(--quiet);overflow-wrap:anywhere;margin-block-start:.1429em}
mark{color:var(--sx-text);background:var(--mark);border-radius:.15em;padding:0 .08em;margin:0 -.08em}
.bar{display:flex;flex-wrap:wrap;gap:.25em 1.5em;align-items:center;justify-content:space-between;flex:none;min-height:2.7em;padding:.35em 1.385em;
border-block-start:1px solid var(--line);font-size:.8125em;color:var(--quiet)}
.status{overflow-wrap:anywhere}
.bar:has(+[hidden]) .status:not(:empty){font-size:1.15em;color:var(--sx-text)}
.hints{display:flex;gap:1em;margin-inline-start:auto;white-space:nowrap}
.panel[aria-busy=true] .head::after{content:"";position:absolute;left:0;bottom:-1px;width:100%;height:2px;background:var(--sx-text);opacity:0;animation:wait .2s .4s forwards}
@keyframes wait{to{opacity:.55}}
@media (prefers-reduced-motion:no-preference){
dialog[open] .panel{animation:rise .14s ease-out}
dialog[open]::backdrop{animation:fade .14s ease-out}
@keyframes rise{from{opacity:0;transform:translateY(.5em)}}
@keyframes fade{from{opacity:0}}
.panel[aria-busy=true] .head::after{width:30%;animation:wait .2s .4s forwards,run 1.1s .4s ease-in-out infinite alternate}
@keyframes run{to{transform:translateX(233%)}}}
@media (max-width:40em){
dialog{padding:0}
.panel{max-width:none;height:100%;border-radius:0}
.open{padding:.75em;inset-block-end:1em;inset-inline-end:1em}
.open>span{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.open>kbd,.hints{display:none}}
@media (hover:none){.hints,.open>kbd{display:none}}
@media (forced-colors:active){
.open,.panel{border:1px solid}
.result[aria-selected=true]{outline:2px solid Highlight;outline-offset:-2px}}
@media print{:host{display:none!important}}
`;
