/**
 * The items of a run over time: a bar from admission to end, or to this moment.
 * Owns the picture; everything in it also stands in the table below.
 */
import type { ReactElement } from 'react';
import { duration } from '../text/time.ts';
import { labelOf, toneOf } from '../text/words.ts';
import type { RunItem, RunRecord } from './run-phase.ts';
import { type Span, spansOf, type TimeFrame } from './timeline-spans.ts';

const WIDTH = 1_000;
const NAME_WIDTH = 190;
const ROW_HEIGHT = 26;
const BAR_HEIGHT = 14;
const AXIS_HEIGHT = 26;
/** A user does not read a picture of more rows. */
const ROWS_MAX = 60;
const NAME_CHARS_MAX = 26;

export interface TimelineProps {
  readonly run: RunRecord;
  readonly items: readonly RunItem[];
}

export function Timeline({ run, items }: TimelineProps): ReactElement {
  const { frame, spans } = spansOf(run, items.slice(0, ROWS_MAX), Date.now());
  const height = AXIS_HEIGHT + spans.length * ROW_HEIGHT + 4;
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <div className="timeline card" tabIndex={0} role="group" aria-label="Items over time">
        <svg
          viewBox={`0 0 ${WIDTH} ${height}`}
          role="img"
          aria-label={`${spans.length} items over ${duration(frame.untilMs - frame.fromMs)}`}
        >
          <Axis frame={frame} height={height} />
          {spans.map((span, index) => (
            <Bar key={span.key} span={span} top={AXIS_HEIGHT + index * ROW_HEIGHT} />
          ))}
        </svg>
      </div>
    </section>
  );
}

function Axis({ frame, height }: { readonly frame: TimeFrame; readonly height: number }): ReactElement {
  return (
    <g className="timeline-axis">
      {[0, 0.25, 0.5, 0.75, 1].map((share) => {
        const x = xOf(share);
        return (
          <g key={share}>
            <line x1={x} x2={x} y1={AXIS_HEIGHT - 6} y2={height} />
            <text x={x} y={13} textAnchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}>
              {duration((frame.untilMs - frame.fromMs) * share)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function Bar({ span, top }: { readonly span: Span; readonly top: number }): ReactElement {
  const { key, word, from, until, isOpen } = span;
  const y = top + (ROW_HEIGHT - BAR_HEIGHT) / 2;
  const name = key.length > NAME_CHARS_MAX ? `${key.slice(0, NAME_CHARS_MAX - 1)}…` : key;
  return (
    <g className={`timeline-bar tone-${toneOf(word)} ${isOpen ? 'timeline-open' : ''}`}>
      <title>{`${key}: ${labelOf(word)}`}</title>
      <text x={0} y={top + ROW_HEIGHT / 2 + 4}>
        {name}
      </text>
      {from === null ? null : (
        <rect x={xOf(from)} y={y} width={Math.max(3, xOf(until) - xOf(from))} height={BAR_HEIGHT} rx={4} />
      )}
    </g>
  );
}

function xOf(share: number): number {
  return NAME_WIDTH + share * (WIDTH - NAME_WIDTH - 4);
}
