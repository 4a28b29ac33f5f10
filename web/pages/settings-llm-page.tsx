/**
 * Settings > LLM: the model profiles of this user, and which one new conversations take.
 * Owns the choice of a profile; its fields are the editor's.
 */
import { type ReactElement, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Button } from '../components/form.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Empty, Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { useAnswer } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { ProfileEditor } from '../settings/profile-editor.tsx';

export function SettingsLlmPage(): ReactElement {
  const [edited, setEdited] = useState<string | null>(null);
  const [isNew, setIsNew] = useState(false);
  const { value, problem, again } = useAnswer('listProfiles', {});
  const leave = (): void => {
    setEdited(null);
    setIsNew(false);
    again();
  };
  return (
    <>
      <PageHead
        title="LLM"
        actions={
          <Button kind="primary" onClick={() => setIsNew(true)}>
            New profile
          </Button>
        }
      >
        Settings › LLM. A profile names a model and the headers that go with its calls.
      </PageHead>
      {value === null || (value.profiles.length === 0 && !isNew) ? (
        <Empty isKnown={value !== null} problem={problem}>
          <p>No profile yet. Without one, the proxy’s first model is taken.</p>
        </Empty>
      ) : null}
      <div className="stack">
        {isNew ? <ProfileEditor name={null} onLeave={leave} /> : null}
        {(value?.profiles ?? []).map((profile) =>
          profile.name === edited ? (
            <ProfileEditor key={profile.name} name={profile.name} onLeave={leave} />
          ) : (
            <ProfileCard
              key={profile.name}
              profile={profile}
              isActive={profile.name === value?.active_profile}
              onEdit={() => setEdited(profile.name)}
              onChange={again}
            />
          ),
        )}
      </div>
    </>
  );
}

interface ProfileCardProps {
  readonly profile: ResultOf<'list_profiles'>['profiles'][number];
  readonly isActive: boolean;
  onEdit(): void;
  onChange(): void;
}

function ProfileCard({ profile, isActive, onEdit, onChange }: ProfileCardProps): ReactElement {
  const { client } = useSession();
  const action = useAction(onChange);
  const { name, model, base_url: url, api_key_set: hasKey } = profile;
  const params = { profile_name: name };
  const run = (work: () => Promise<unknown>): void => void action.run(work);
  return (
    <section className="card profile" aria-label={`Profile ${name}`}>
      <div>
        <h2>
          {name} {isActive ? <span className="tag tag-strong">in use</span> : null}
        </h2>
        <p className="quiet">
          {model ?? 'the proxy’s choice'}
          {url === null ? '' : ` · ${url}`}
          {hasKey ? ' · API key stored' : ''}
        </p>
        <Problems of={action.problems} />
      </div>
      <div className="page-head-actions">
        {isActive ? null : (
          <Button busy={action.isBusy} onClick={() => run(() => client.activateProfile({ params }))}>
            Use for new conversations
          </Button>
        )}
        <Button onClick={onEdit}>Edit</Button>
        <Button
          kind="danger"
          busy={action.isBusy}
          onClick={() => run(() => client.deleteProfile({ params }))}
        >
          Delete
        </Button>
      </div>
    </section>
  );
}
