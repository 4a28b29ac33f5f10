/**
 * The charts of a report, from the shapes that its page in a file is drawn of, too.
 * Owns the elements; sizes and scales are the server's, colours those of the style sheets.
 */
import type { ReactElement } from 'react';
import type { ReportFigure, ReportShape } from './report-section.tsx';

export function ReportFigures({
  figures,
}: {
  readonly figures: readonly ReportFigure[];
}): ReactElement | null {
  if (figures.length === 0) return null;
  return (
    <section aria-label="Charts" className="stack">
      <h2>Charts</h2>
      <div className="report-figures">
        {figures.map((figure) => (
          <Figure key={figure.id} figure={figure} />
        ))}
      </div>
    </section>
  );
}

function Figure({ figure }: { readonly figure: ReportFigure }): ReactElement {
  const { title, about, words, legend, width, height, shapes } = figure;
  return (
    <figure className="card report-figure">
      <figcaption>
        {title}
        <small>{about}</small>
      </figcaption>
      {legend.length === 0 ? null : (
        <ul className="report-legend">
          {legend.map(({ name, tone }) => (
            <li key={name}>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect className={`fill-${tone}`} width="10" height="10" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <div className="report-drawing" tabIndex={0} role="group" aria-label={title}>
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}: ${words}`}>
          {shapes.map((shape, at) => (
            <Shape key={at} shape={shape} />
          ))}
        </svg>
      </div>
    </figure>
  );
}

function Shape({ shape }: { readonly shape: ReportShape }): ReactElement {
  switch (shape.kind) {
    case 'words':
      return (
        <text x={shape.x} y={shape.y} dy={4} textAnchor={shape.anchor}>
          {shape.text}
        </text>
      );
    case 'bar':
      return (
        <rect
          className={`fill-${shape.tone}`}
          x={shape.x}
          y={shape.y}
          width={shape.width}
          height={shape.height}
        />
      );
    case 'line':
      return <polyline className={`stroke-${shape.tone}`} points={shape.points} />;
    case 'area':
      return <polygon className={`fill-${shape.tone}`} points={shape.points} />;
    case 'rule':
      return <line className="report-rule" x1={shape.x1} x2={shape.x2} y1={shape.y} y2={shape.y} />;
  }
}
