// The style of the HTML report, light and dark, from a phone to a desk. Owns colours and sizes. Refuses: anything that a page
// would have to load.

export const style = `
:root{color-scheme:light dark;--bg:#f7f7f5;--card:#fff;--ink:#1b1d22;--soft:#5d6470;--line:#e4e4df;--track:#ecece7;
--calm:#b9c7d8;--hot:#d1451b;--hot-ink:#a8330f;--warm:#fbe9e2;--good:#1f7a4d;--good-bg:#e2f3ea;--back:#7a3fb0;--back-bg:#f0e6f9;
--wait:#8a6100;--wait-bg:#fbf0d4;--font:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{--bg:#14161a;--card:#1c1f25;--ink:#e9eaed;--soft:#9ba3b0;--line:#2c3038;--track:#2a2e36;
--calm:#47566b;--hot:#ff7a4d;--hot-ink:#ff9a77;--warm:#3a231b;--good:#63cf9a;--good-bg:#17332a;--back:#c79bf2;--back-bg:#2f2140;
--wait:#e8bf5c;--wait-bg:#382d14}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 var(--font);-webkit-text-size-adjust:100%}
main{max-width:1120px;margin:0 auto;padding:40px 24px 64px}
header{margin-bottom:28px}
h1{font-size:30px;line-height:1.2;letter-spacing:-.02em;margin:0 0 6px;font-weight:680}
h2{font-size:17px;letter-spacing:-.01em;margin:0;font-weight:640}
.sub,.note{color:var(--soft);margin:0}
.note{font-size:13px}
.sub span{display:inline-block}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:22px 24px;margin:0 0 18px}
section>header{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:baseline;margin:0 0 16px}
.figures{display:grid;grid-template-columns:repeat(5,1fr);gap:1px;background:var(--line);border:1px solid var(--line);border-radius:14px;overflow:hidden;margin:0 0 18px}
.figures div{background:var(--card);padding:16px 18px}
.figures dt{color:var(--soft);font-size:13px}
.figures dd{margin:2px 0 0;font-size:26px;font-weight:640;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.figures .good{color:var(--good)}
.figures small{font-size:13px;font-weight:400;color:var(--soft);letter-spacing:0;margin-left:6px;white-space:nowrap}
.hot{color:var(--hot-ink)}
.two{display:grid;grid-template-columns:1fr 1fr;gap:18px}
.two section{margin:0;min-width:0}
.two{margin:0 0 18px}
.trend{display:grid;grid-template-columns:auto 1fr;gap:0 10px}
.axis{display:flex;flex-direction:column;justify-content:space-between;text-align:right;color:var(--soft);font-size:12px;height:190px;font-variant-numeric:tabular-nums;margin:-9px 0}
.plot{position:relative;height:190px;border-bottom:1px solid var(--line);background:linear-gradient(var(--line) 1px,transparent 1px) 0 0/100% 50%}
.bars{position:absolute;inset:0;display:flex;align-items:flex-end;gap:3px}
.bars>i{flex:1;display:flex;flex-direction:column;justify-content:flex-end;height:100%;position:relative;max-width:56px;margin:0 auto}
.bars b,.bars u{display:block;text-decoration:none}
.bars u{background:var(--calm);border-radius:3px 3px 0 0}
.bars b{background:var(--hot)}
.bars b:first-child{border-radius:3px 3px 0 0}
.weeks{grid-column:2;display:flex;gap:3px;color:var(--soft);font-size:12px;margin-top:6px}
.weeks span{flex:1;display:flex;justify-content:center;min-width:0;white-space:nowrap}
.mark{position:absolute;top:0;bottom:0;width:0;border-left:1px dashed var(--good)}
.mark::before{content:"";position:absolute;left:-4.5px;top:-5px;border:4.5px solid transparent;border-top:6px solid var(--good)}
.rate{position:relative;height:64px;margin-top:18px;border-bottom:1px solid var(--line)}
.rate svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.rate path{vector-effect:non-scaling-stroke;stroke-linejoin:round;stroke-linecap:round}
.rate .area{fill:var(--hot);opacity:.12}
.rate .edge{fill:none;stroke:var(--hot);stroke-width:2}
.rate-axis{height:64px;margin:9px 0 -9px}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px;color:var(--soft);margin-left:auto}
.key span::before{content:"";display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:7px;background:var(--calm)}
.key .k-hot::before{background:var(--hot)}
.key .k-mark::before{border-radius:0;background:none;width:0;height:0;border:5px solid transparent;border-top:7px solid var(--good);margin-bottom:-3px}
summary{cursor:pointer;padding:12px 0 0;color:var(--soft);font-size:14px;border-top:1px solid var(--line);margin-top:13px}
summary b{color:var(--ink);font-weight:600}
details[open]>summary{padding-bottom:12px}
ul,ol{list-style:none;margin:0;padding:0}
.gaps li{display:grid;grid-template-columns:118px minmax(0,1fr) 190px;gap:4px 18px;padding:13px 0;border-top:1px solid var(--line);align-items:center}
.gaps li:first-child,.rows li:first-child{border-top:0;padding-top:0}
.gaps li:last-child,.rows li:last-child{padding-bottom:0}
.what{min-width:0}
.what strong{display:block;font-weight:580;overflow-wrap:anywhere}
.what p{margin:1px 0 0;color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.what code{font:12px var(--mono);color:var(--soft);white-space:nowrap}
.what strong code{font:13.5px var(--mono);font-weight:580;color:inherit;white-space:normal}
.state{justify-self:start;font-size:12.5px;font-weight:600;padding:2px 10px;border-radius:99px;white-space:nowrap;background:var(--warm);color:var(--hot-ink)}
.s-Closed{background:var(--good-bg);color:var(--good)}
.s-Reopened{background:var(--back-bg);color:var(--back)}
.s-TooFewTurns{background:var(--wait-bg);color:var(--wait)}
.meter{display:grid;grid-template-columns:1fr 54px;gap:3px 10px;align-items:center;font-variant-numeric:tabular-nums}
.meter>i{height:8px;border-radius:4px;background:var(--track);overflow:hidden;display:block}
.meter>i>b{display:block;height:100%;background:var(--hot);border-radius:4px}
.meter>span{text-align:right;font-weight:600;white-space:nowrap}
.meter>small{grid-column:1/3;color:var(--soft);font-size:12.5px}
.rows li{padding:10px 0;border-top:1px solid var(--line);min-width:0}
.line{display:flex;gap:14px;align-items:baseline;justify-content:space-between;min-width:0}
.line>span:first-child{min-width:0;overflow-wrap:anywhere}
.line code{font:13px var(--mono);overflow-wrap:anywhere}
.line>span:last-child{white-space:nowrap;color:var(--soft);font-size:13px;font-variant-numeric:tabular-nums}
.bar{display:flex;height:7px;border-radius:4px;background:var(--track);overflow:hidden;margin-top:6px}
.bar b{background:var(--hot)}.bar u{background:var(--calm)}
.lack{color:var(--hot-ink);font-size:12px;white-space:nowrap}
.scroll{overflow-x:auto;margin:0 -4px;padding:0 4px}
table{border-collapse:separate;border-spacing:3px;width:100%;font-size:13px;font-variant-numeric:tabular-nums}
th{font-weight:500;color:var(--soft);text-align:center;font-size:12px;white-space:nowrap}
tbody th{text-align:left;color:var(--ink);font-size:13.5px;padding-right:12px;white-space:normal;overflow-wrap:anywhere;max-width:240px;min-width:110px}
td{height:32px;min-width:34px;text-align:center;border-radius:6px;background:var(--track);color:var(--soft)}
td.heat{background:color-mix(in oklab,var(--hot) calc(var(--h)*1%),var(--track));color:var(--ink)}
td.deep{font-weight:600}td.full{color:#fff}
@media (prefers-color-scheme:dark){td.deep{color:#14161a}}
td.none{background:none;color:var(--line)}
footer{color:var(--soft);font-size:13px;padding:6px 4px}
footer p{margin:0 0 6px;max-width:78ch}
@media (max-width:860px){.two{grid-template-columns:1fr}.figures{grid-template-columns:repeat(2,1fr)}.figures div:last-child:nth-child(odd){grid-column:1/3}
.gaps li{grid-template-columns:minmax(0,1fr) 170px}.gaps .what{grid-column:1/3;order:3}.gaps .meter{justify-self:stretch}}
@media (max-width:560px){main{padding:24px 14px 40px}h1{font-size:25px}section{padding:18px 16px}.figures dd{font-size:22px}.figures div{padding:13px 16px}
.weeks span:not(.keep){visibility:hidden}.weeks{gap:0}.bars{gap:2px}.key{margin-left:0}td{height:28px;min-width:30px}}
@media print{body{background:#fff}section{break-inside:avoid}}
`.trim();
