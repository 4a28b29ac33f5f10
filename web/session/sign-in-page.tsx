/**
 * The first page: asks for an API key.
 * Owns the form; the key is a password to the browser, and goes nowhere but into the header of a request.
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { Mark } from '../components/mark.tsx';
import { Notice } from '../components/notice.tsx';

export interface SignInProps {
  readonly isTrying: boolean;
  readonly problem: string | null;
  onKey(key: string): void;
}

export function SignInPage({ isTrying, problem, onKey }: SignInProps): ReactElement {
  const [key, setKey] = useState('');
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') onKey(key.trim());
  };
  return (
    <main className="sign-in">
      <form className="card sign-in-card" onSubmit={onSubmit}>
        <Mark size={44} />
        <h1>Parley</h1>
        <p className="quiet">Conversations of coding agents, in sandboxes, accounted for.</p>
        <Field label="API key" hint="Kept in this tab only. “parley key create” makes one.">
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="off"
              spellCheck={false}
              autoFocus
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
        <Button kind="primary" type="submit" busy={isTrying}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
