/**
 * The events of a conversation as a list that grows at its end.
 * Owns the following: the newest stays in view until the user scrolls away from it. To the tab key it is one stop.
 */
import { type KeyboardEvent, type ReactElement, useEffect, useMemo, useRef } from 'react';
import { Button } from '../components/form.tsx';
import { earlierCount, laterCount } from '../data/event-window.ts';
import type { PartialWords } from '../data/partial-texts.ts';
import type { FollowedEvents } from '../data/use-events.ts';
import { EntryItem } from './entry-item.tsx';
import { costsOf, entriesOf } from './transcript-entries.ts';

/** Nearer to the end than this, a reader follows it. */
const FOLLOWS_PX = 80;

export interface TranscriptProps {
  readonly followed: FollowedEvents;
  /** Nano-USD of a model's answers by their ids. */
  readonly costs: ReadonlyMap<string, number>;
  /** Null until the user goes to an event. */
  readonly target: TranscriptTarget | null;
}

/** The event that the user went to; going there once more is another target. */
export interface TranscriptTarget {
  readonly seq: number;
}

export function Transcript({ followed, costs, target }: TranscriptProps): ReactElement {
  const { events, isLive, isRead, isOver, partials } = followed;
  const frame = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const reached = useRef<TranscriptTarget | null>(null);
  const entries = useMemo(() => entriesOf(events), [events]);
  const costBySeq = useMemo(() => costsOf(entries, costs), [entries, costs]);
  const last = entries.at(-1);
  useEffect(() => {
    const { current } = frame;
    if (current !== null && isFollowing.current && isLive) current.scrollTop = current.scrollHeight;
  }, [last, isLive, partials]);
  useEffect(() => {
    if (target === null || reached.current === target) return;
    isFollowing.current = false;
    const entry = entryAt(frame.current, target.seq);
    if (entry === null) return;
    reached.current = target;
    entry.scrollIntoView({ block: 'center' });
    entry.focus({ preventScroll: true });
  }, [target, events]);
  const onScroll = (): void => {
    const { current } = frame;
    if (current === null) return;
    isFollowing.current = current.scrollHeight - current.scrollTop - current.clientHeight < FOLLOWS_PX;
  };
  return (
    <>
      <Earlier followed={followed} />
      <div
        className="transcript card"
        ref={frame}
        tabIndex={0}
        role="log"
        aria-label="Events"
        aria-busy={!isRead}
        onScroll={onScroll}
        onKeyDown={(event) => moveWithin(event)}
      >
        <ol>
          {entries.map(({ seq, event, result }) => (
            <EntryItem
              key={seq}
              seq={seq}
              event={event}
              result={result}
              nanoUsd={costBySeq.get(seq) ?? null}
              isTarget={seq === target?.seq}
              growing={partials.outputs.get(event.id) ?? null}
            />
          ))}
          {isLive && !isOver
            ? partials.words.map((words) => <GrowingWords key={words.responseId} words={words} />)
            : null}
          {entries.length + partials.words.length > 0 ? null : (
            <li className="event event-state">{isRead ? 'No event yet' : 'Loading …'}</li>
          )}
          {isOver ? <li className="event event-state">The conversation was deleted</li> : null}
        </ol>
      </div>
      {isLive ? null : <Later followed={followed} />}
    </>
  );
}

/**
 * What the agent says before the event is there: text and no Markdown, because half a text has no form yet. It is not
 * read aloud at each word: the event is, as a whole.
 */
function GrowingWords({ words }: { readonly words: PartialWords }): ReactElement {
  const { content, reasoning } = words;
  return (
    <li className="event event-agent" aria-live="off" aria-label="Agent is writing">
      <div className="event-head">
        <strong>Agent</strong>
        <span className="tag">writing …</span>
      </div>
      <p className={`event-text${content === '' ? ' quiet' : ''}`}>{content === '' ? reasoning : content}</p>
    </li>
  );
}

function Earlier({ followed }: Pick<TranscriptProps, 'followed'>): ReactElement | null {
  const earlier = earlierCount(followed);
  if (earlier === 0) return null;
  return (
    <div className="transcript-more">
      <Button kind="quiet" busy={followed.isReading} onClick={() => followed.earlier()}>
        Load earlier events
      </Button>
      <span className="quiet">{earlier.toLocaleString()} before these</span>
    </div>
  );
}

function Later({ followed }: Pick<TranscriptProps, 'followed'>): ReactElement {
  const { isReading } = followed;
  return (
    <div className="transcript-more">
      <Button kind="quiet" busy={isReading} onClick={() => followed.later()}>
        Load later events
      </Button>
      <Button kind="quiet" busy={isReading} onClick={() => followed.newest()}>
        Go to the newest
      </Button>
      <span className="quiet">{laterCount(followed).toLocaleString()} behind these</span>
    </div>
  );
}

/** A result stands in the entry of its action, which has an earlier number. */
function entryAt(frame: HTMLElement | null, seq: number): HTMLElement | null {
  const entries = [...(frame?.querySelectorAll<HTMLElement>('[data-seq]') ?? [])];
  const last = Number(entries.at(-1)?.dataset['seq'] ?? 0);
  if (entries.length === 0 || seq < Number(entries[0]?.dataset['seq'])) return null;
  return (
    entries.find((entry) => entry.dataset['seq'] === String(seq)) ??
    entries.findLast((entry) => Number(entry.dataset['seq']) <= Math.min(seq, last)) ??
    null
  );
}

const ENTRY = '[data-seq]';
const PRESSED = 'a[href], summary, button';

/** The keys of a transcript: it is one stop of the tab key, and arrows lead through it. */
function moveWithin(event: KeyboardEvent<HTMLElement>): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const to = targetOf(event);
  if (to === null) return;
  event.preventDefault();
  // A page-wide shortcut of the same key stays out of it.
  event.stopPropagation();
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'nearest' });
}

function targetOf({ key, currentTarget }: KeyboardEvent<HTMLElement>): HTMLElement | null {
  const entries = [...currentTarget.querySelectorAll<HTMLElement>(ENTRY)];
  const active = document.activeElement;
  const at = entries.findIndex((entry) => entry.contains(active));
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return entries[Math.min(entries.length - 1, at + 1)] ?? null;
    case 'ArrowUp':
    case 'k':
      // From the frame itself the way up begins at the newest.
      return (at === -1 ? entries.at(-1) : entries[Math.max(0, at - 1)]) ?? null;
    case 'Home':
      return entries[0] ?? null;
    case 'End':
      return entries.at(-1) ?? null;
    case 'ArrowRight':
      return pressedIn(entries[at], active, 1);
    case 'ArrowLeft':
      return pressedIn(entries[at], active, -1);
    case 'Escape':
      return at === -1 ? null : currentTarget;
    case 'Enter':
      return active === entries[at] ? opened(entries[at]) : null;
    default:
      return null;
  }
}

function pressedIn(entry: HTMLElement | undefined, active: Element | null, by: number): HTMLElement | null {
  if (entry === undefined) return null;
  const all = [...entry.querySelectorAll<HTMLElement>(PRESSED)];
  const at = all.findIndex((one) => one === active);
  if (at === -1) return by > 0 ? (all[0] ?? null) : null;
  return all[at + by] ?? (by < 0 ? entry : null);
}

/** The first fold of an entry opens or closes; the focus stays where it is. */
function opened(entry: HTMLElement | undefined): HTMLElement | null {
  const fold = entry?.querySelector('details');
  if (entry === undefined || fold === null || fold === undefined) return null;
  fold.open = !fold.open;
  return entry;
}
