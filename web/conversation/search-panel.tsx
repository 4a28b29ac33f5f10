/**
 * Searching inside one conversation: every event of it, also those that are not in the page.
 * Owns the reading through and its bound; where a match leads is the transcript's.
 */
import { type FormEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { Button } from '../components/form.tsx';
import { Problems } from '../components/parts.tsx';
import { sentencesOf } from '../data/problem.ts';
import { useSession } from '../session/session.ts';
import { type EventMatch, findEvents, MATCHES_MAX } from './find-events.ts';

export interface SearchPanelProps {
  readonly id: string;
  /** The newest number that is known. */
  readonly total: number;
  onGo(seq: number): void;
}

interface Found {
  readonly words: string;
  readonly matches: readonly EventMatch[];
  readonly read: number;
  readonly isDone: boolean;
  readonly problems: readonly string[];
}

export function SearchPanel({ id, total, onGo }: SearchPanelProps): ReactElement {
  const { client } = useSession();
  const [words, setWords] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const end = useRef<AbortController | null>(null);
  useEffect(() => () => end.current?.abort(), []);
  const search = (event: FormEvent): void => {
    event.preventDefault();
    end.current?.abort();
    const wanted = words.trim();
    if (wanted === '') return setFound(null);
    const ended = new AbortController();
    end.current = ended;
    const { signal } = ended;
    const tell = (change: Partial<Found>): void => {
      if (!signal.aborted) setFound((before) => ({ ...(before ?? NOTHING), words: wanted, ...change }));
    };
    setFound({ ...NOTHING, words: wanted });
    findEvents(client, { id, total, words: wanted, signal, tell }).then(
      () => tell({ isDone: true }),
      (error: unknown) => tell({ isDone: true, problems: sentencesOf(error) }),
    );
  };
  return (
    <search className="search-panel">
      <form onSubmit={search}>
        <input
          type="search"
          aria-label="Search this conversation"
          placeholder="Search this conversation"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            if (event.target.value === '') setFound(null);
          }}
        />
        <Button type="submit">Search</Button>
      </form>
      {found === null ? null : <Matches found={found} total={total} onGo={onGo} />}
    </search>
  );
}

const NOTHING: Found = { words: '', matches: [], read: 0, isDone: false, problems: [] };

function Matches({
  found,
  total,
  onGo,
}: { readonly found: Found } & Pick<SearchPanelProps, 'total' | 'onGo'>): ReactElement {
  const { matches, read, isDone, problems } = found;
  const count = matches.length === MATCHES_MAX ? `the first ${MATCHES_MAX}` : String(matches.length);
  return (
    <div className="card matches">
      <p role="status" className="quiet">
        {isDone ? `Found: ${count}` : `Read ${read.toLocaleString()} of ${total.toLocaleString()} events …`}
      </p>
      <Problems of={problems} />
      <ol>
        {matches.map(({ seq, who, before, match, after }) => (
          <li key={seq}>
            <button type="button" onClick={() => onGo(seq)}>
              <span className="quiet">
                {who} · {seq}
              </span>
              <span className="match-text">
                {before}
                <mark>{match}</mark>
                {after}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
