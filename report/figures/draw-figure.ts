/**
 * A figure as SVG inside a page, with a description in words for readers who cannot see it.
 * Pure; owns the markup. Every text that comes from outside is escaped here.
 */
import { escapeText as escape } from '../page/page.ts';
import { type Figure, figureDrawing, type FigureDrawing, type Shape } from './figure-drawing.ts';

const TONES = { good: '--good', bad: '--bad', busy: '--busy', rest: '--series-11' } as const;

/** By the console's colours. */
export const FIGURE_STYLE = `
${Object.entries(TONES)
  .map(([tone, token]) => `.f-${tone}{fill:var(${token})}.line.f-${tone}{fill:none;stroke:var(${token})}`)
  .join('\n')}
.legend svg{display:inline-block;width:12px;height:12px;margin-right:6px;vertical-align:-1px}
`;

export function drawFigure(figure: Figure): string {
  const { id, title, about, words, legend, width, height, shapes } = figureDrawing(figure);
  return [
    `<figure id="${escape(id)}" class="card">`,
    `<figcaption>${escape(title)}<small>${escape(about)}</small></figcaption>`,
    ...(legend.length === 0 ? [] : [legendMarkup(legend)]),
    '<div class="wide" tabindex="0">',
    `<svg class="drawn" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(`${title}: ${words}`)}">`,
    ...shapes.map(shapeMarkup),
    '</svg>',
    '</div>',
    '</figure>',
  ].join('\n');
}

function shapeMarkup(shape: Shape): string {
  switch (shape.kind) {
    case 'words':
      return `<text x="${shape.x}" y="${shape.y}" dy="4" text-anchor="${shape.anchor}">${escape(shape.text)}</text>`;
    case 'bar':
      return `<rect class="f-${shape.tone}" x="${shape.x}" y="${shape.y}" width="${shape.width}" height="${shape.height}"/>`;
    case 'line':
      return `<polyline class="line f-${shape.tone}" points="${shape.points}"/>`;
    case 'area':
      return `<polygon class="f-${shape.tone}" points="${shape.points}"/>`;
    case 'rule':
      return `<line class="grid" x1="${shape.x1}" x2="${shape.x2}" y1="${shape.y}" y2="${shape.y}"/>`;
  }
}

function legendMarkup(legend: FigureDrawing['legend']): string {
  const entries = legend.map(
    ({ name, tone }) =>
      `<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="f-${tone}" width="10" height="10"/></svg>${escape(name)}</li>`,
  );
  return `<ul class="legend">${entries.join('')}</ul>`;
}
