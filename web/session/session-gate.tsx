/**
 * Lets only a user with a key that the service accepts past.
 * Owns the signing in and out; the pages behind it get the session of the user.
 */
import {
  type ReactElement,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useState,
  type FormEvent,
} from 'react';
import { Button, TextField } from '../components/form.tsx';
import { Mark } from '../components/mark.tsx';
import { Notice } from '../components/parts.tsx';
import { isUnreachable, sentenceOf } from '../data/problem.ts';
import { clientWith, type CurrentUser, SessionContext } from './session.ts';

/** Between two requests to a service that does not answer. */
const AGAIN_MS = 2_000;

interface SignedIn {
  readonly key: string;
  readonly user: CurrentUser;
}

export function SessionGate({ children }: { readonly children: ReactNode }): ReactElement {
  const [signedIn, setSignedIn] = useState<SignedIn | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isTrying, setIsTrying] = useState(rememberedKey() !== null);

  const signIn = useCallback(async (key: string) => {
    setIsTrying(true);
    setProblem(null);
    try {
      const user = await clientWith(key).getCurrentUser();
      rememberKey(key);
      setSignedIn({ key, user });
    } catch (error) {
      setProblem(sentenceOf(error));
      // A service that is away has not refused the key: the sign-in is repeated until it answers.
      if (isUnreachable(error) && rememberedKey() === key) setTimeout(() => void signIn(key), AGAIN_MS);
      else forgetKey();
    } finally {
      setIsTrying(false);
    }
  }, []);

  const signOut = useCallback((reason?: string) => {
    forgetKey();
    setSignedIn(null);
    setProblem(reason ?? null);
  }, []);

  useEffect(() => {
    const key = rememberedKey();
    if (key !== null) void signIn(key);
  }, [signIn]);

  const session = useMemo(
    () => (signedIn === null ? null : { client: clientWith(signedIn.key), user: signedIn.user, signOut }),
    [signedIn, signOut],
  );
  if (session === null)
    return <SignInPage isTrying={isTrying} problem={problem} onKey={(key) => void signIn(key)} />;
  return <SessionContext value={session}>{children}</SessionContext>;
}

/**
 * The API key of this tab: kept until the tab is closed, never in an address, and for no other tab.
 * Owns the place where it is kept.
 */
const NAME = 'parley.key';

function rememberedKey(): string | null {
  return globalThis.sessionStorage.getItem(NAME);
}

function rememberKey(key: string): void {
  globalThis.sessionStorage.setItem(NAME, key);
}

function forgetKey(): void {
  globalThis.sessionStorage.removeItem(NAME);
}

interface SignInProps {
  readonly isTrying: boolean;
  readonly problem: string | null;
  onKey(key: string): void;
}

/** The first page: a form for an API key. */
function SignInPage({ isTrying, problem, onKey }: SignInProps): ReactElement {
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
        <TextField
          label="API key"
          hint="Kept in this tab only. “parley key create” makes one."
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={key}
          onText={setKey}
        />
        {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
        <Button kind="primary" type="submit" busy={isTrying}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
