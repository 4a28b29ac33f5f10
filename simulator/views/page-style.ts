/**
 * How a page looks, in light and dark.
 * Owns the colours; each activity and curve has one of its own, and none is told apart by colour alone.
 */

/** The browser itself refuses whatever slipped through: styles of this file, and nothing else. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** In light; tests look for them in a picture. */
export const LIGHT_COLOURS = {
  queued: '#b8bec7',
  starting: '#e0a100',
  working: '#1a7f4b',
  paused: '#7d5bd0',
  ended: '#dfe5ec',
  slots: '#0b62c4',
  cost: '#b3361c',
  limit: '#d01f5f',
} as const;

const DARK_COLOURS: Readonly<Record<keyof typeof LIGHT_COLOURS, string>> = {
  queued: '#6b7380',
  starting: '#f0bc3a',
  working: '#4cc386',
  paused: '#a98cf0',
  ended: '#2c333c',
  slots: '#6cb0ff',
  cost: '#ff9a80',
  limit: '#ff7aa8',
};

const names = Object.keys(LIGHT_COLOURS) as (keyof typeof LIGHT_COLOURS)[];
const variables = names.map(
  (name) => `--${name}: light-dark(${LIGHT_COLOURS[name]}, ${DARK_COLOURS[name]});`,
);
const fills = names.map((name) => `.${name} { fill: var(--${name}); background: var(--${name}); }`);

export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d4d7dc, #3b4048); --quiet: light-dark(#f3f4f6, #22262b); ${variables.join(' ')} }
body { margin: 2rem auto; padding: 0 1rem; max-width: 75rem; font: 15px/1.5 system-ui, sans-serif; color: light-dark(#1c1f23, #e4e7eb); background: light-dark(#ffffff, #16191d); }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.5rem; } dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; margin-bottom: 0.3rem; }
.scroll { max-height: 32rem; overflow: auto; border: 1px solid var(--line); }
svg { display: block; width: 100%; min-width: 40rem; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: currentColor; } .grid { stroke: var(--line); stroke-width: 1; }
${fills.join('\n')}
.line { fill: none; stroke-width: 2; } .below { opacity: 0.25; }
.slots.line { stroke: var(--slots); } .cost.line { stroke: var(--cost); } .limit { stroke: var(--limit); stroke-width: 2; stroke-dasharray: 8 5; }
.legend { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; padding: 0; list-style: none; } .legend span { display: inline-block; width: 0.9rem; height: 0.9rem; margin-right: 0.4rem; vertical-align: -0.1rem; border: 1px solid var(--line); }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 0.75rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; } th { background: var(--quiet); }
td { overflow-wrap: anywhere; } .right { text-align: right; } summary { cursor: pointer; font-weight: 600; }
`;
