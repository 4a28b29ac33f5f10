/**
 * How the parts look that only the report of a run has: tiles, failures, the table whose rows open.
 * Owns no colour: those are tokens of the console.
 */
export const REPORT_STYLE = `
.head{display:grid;gap:8px}
.head code{overflow-wrap:anywhere}
.sums{grid-template-columns:repeat(auto-fit,minmax(min(100%,220px),1fr))}
.sum dt{color:var(--quiet);font-size:13px}
.sum dd a{font-size:13px;font-weight:400;text-decoration:none}
.sum small{font-size:13px;overflow-wrap:anywhere}
.sum .better{color:var(--good)}.sum .worse{color:var(--bad)}
sup{line-height:0}
.failure{display:grid;gap:8px;padding:14px 18px;border-left:4px solid var(--bad);grid-template-columns:minmax(0,1fr)}
.failure h3 a{color:var(--text)}
.reason{white-space:pre-wrap}
.filter{display:flex;flex-wrap:wrap;align-items:center;gap:10px}
.filter[hidden]{display:none}
.filter input{max-width:320px}
.filter .button{padding:5px 12px;border:1px solid var(--line);border-radius:8px;background:var(--card);color:var(--text);font:inherit;cursor:pointer}
.filter .button[hidden]{display:none}
@media screen{.items.scripted tbody.later{display:none}}
@media screen and (scripting:enabled){.items tbody.later{display:none}}
.items{font-size:14px;font-variant-numeric:tabular-nums}
.items th,.items td{padding:8px 12px}
.items thead th{white-space:nowrap}
.items thead button{padding:0;border:0;background:none;color:inherit;font:inherit;letter-spacing:inherit;cursor:pointer}
.items thead button:hover{color:var(--text)}
.items thead button::after{content:"\\2195";margin-left:5px;opacity:.45}
.items [aria-sort=ascending] button::after{content:"\\2191";opacity:1}
.items [aria-sort=descending] button::after{content:"\\2193";opacity:1}
.items summary{width:auto;color:var(--text);overflow-wrap:anywhere}
.items summary:hover{color:var(--accent-strong)}
.items .number{white-space:nowrap}
.items .name{width:40%;min-width:200px;font-weight:500}
.items tbody:not(:has(details[open])):not(:target)>.opened{display:none}
.items.scripted tbody:not(:has(details[open]))>.opened{display:none}
.items .opened>td{padding:4px 12px 20px;border-top:0}
.items .opened:hover{background:none}
.work{display:grid;gap:12px;padding-left:18px;border-left:3px solid var(--line);grid-template-columns:minmax(0,1fr)}
.work h3{margin-bottom:4px;color:var(--quiet);font-size:13px}
.work p{margin-top:4px;font-size:13px}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 16px;font-size:13px}
.facts dt{color:var(--quiet)}
.diff-added{display:block;background:var(--good-soft)}
.diff-removed{display:block;background:var(--bad-soft)}
.diff-hunk{display:block;color:var(--quiet)}
footer{display:grid;gap:14px;padding-top:20px;border-top:1px solid var(--line);font-size:14px;grid-template-columns:minmax(0,1fr)}
@media (max-width:700px){
.items,.items tbody,.items .row,.items .opened,.items .opened>td{display:block}
.items thead,.items thead tr{display:flex;flex-wrap:wrap;gap:4px 14px}
.items thead{padding:8px 12px}
.items thead th{padding:0}
.items:not(.scripted) thead{display:none}
.items tbody{padding:10px 12px;border-top:1px solid var(--line)}
.items tbody[hidden]{display:none}
.items .row{display:flex;flex-wrap:wrap;gap:2px 14px}
.items .row>*{padding:0;border:0;text-align:left}
.items .row .at{display:none}
.items .row .name{flex:0 0 100%}
.items .row td::before{color:var(--quiet)}
.items .row td:nth-child(4)::before{content:"attempts "}
.items .row td:nth-child(5)::before{content:"time "}
.items .row td:nth-child(6)::before{content:"calls "}
.items .row td:nth-child(7)::before{content:"tokens "}
.items .row td:nth-child(8)::before{content:"cost "}
.items .row td:nth-child(9)::before{content:"billed "}
.items .opened>td{padding:10px 0 4px}
.work{padding-left:10px}
.facts{grid-template-columns:minmax(0,1fr)}
}
@media print{
body{font-size:12px}
.sums{grid-template-columns:repeat(4,minmax(0,1fr))}
.sum{padding:10px 12px}.sum dd{font-size:16px}.sum small,.sum dt{font-size:10px}
.items,.items thead th,.items .badge,.facts,.work h3,.work p{font-size:9.5px}
.items th,.items td{padding:3px 5px}
.items .name{width:auto;min-width:0}
.items .number{white-space:normal}
.items thead button::after{content:none}
.items.paper tbody:not(:has(details[open])):not(:target)>.opened,.items.paper.scripted tbody:not(:has(details[open]))>.opened{display:table-row}
.items .opened{break-inside:auto}
.filter{display:none}
.work{padding-left:8px}
.work pre,.failure pre{padding:6px 8px;font-size:9px}
.failure{break-inside:avoid-page}
}
`;
