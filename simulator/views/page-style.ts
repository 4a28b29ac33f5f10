/**
 * What the page of a simulation has beside the style of all pages.
 * Owns which of the console's colours each activity and curve has; none is told apart by colour alone.
 */

/** Names of tokens; tests look for their colours in a picture. */
export const FIGURE_TOKENS = {
  queued: '--series-11',
  starting: '--series-2',
  working: '--good',
  paused: '--series-3',
  ended: '--line',
  slots: '--series-0',
  cost: '--series-4',
  limit: '--series-7',
} as const;

const fills = Object.entries(FIGURE_TOKENS).map(
  ([name, token]) => `.${name}{fill:var(${token});background:var(${token})}`,
);

export const SIMULATION_STYLE = `
${fills.join('\n')}
figure .scroll{max-height:32rem;overflow:auto}
.below{opacity:.25}
.slots.line{fill:none;stroke:var(${FIGURE_TOKENS.slots})}.cost.line{fill:none;stroke:var(${FIGURE_TOKENS.cost})}
.limit{stroke:var(${FIGURE_TOKENS.limit});stroke-width:2;stroke-dasharray:8 5}
.legend span{display:inline-block;width:14px;height:14px;margin-right:6px;border:1px solid var(--line);vertical-align:-2px}
.sums{grid-template-columns:repeat(auto-fit,minmax(min(100%,240px),1fr))}
.sum dt{color:var(--quiet);font-size:13px}
.sum dd{font-size:16px}
@media print{figure .scroll{max-height:none;overflow:visible}}
`;
