/**
 * Settings > Application: what conversations of this user begin with.
 * Owns the form and its saving; limits of the deployment are shown and never set here (D10).
 */
import { type ReactElement, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { WorkForm } from '../components/dialog.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Loaded, Notice } from '../components/parts.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { AgentSection, GitSection, GroupingField, LimitFacts } from '../settings/application-sections.tsx';

type Settings = ResultOf<'get_settings'>;

export function SettingsApplicationPage(): ReactElement {
  return (
    <>
      <PageHead title="Application">
        Settings › Application. They hold for conversations that start from now on.
      </PageHead>
      <Loaded of={useAnswer('getSettings', {}, null)}>
        {(settings) => <SettingsForm settings={settings} />}
      </Loaded>
    </>
  );
}

function SettingsForm({ settings }: { readonly settings: Settings }): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState(settings);
  const [isSaved, setIsSaved] = useState(false);
  const set = (change: Partial<Settings>): void => {
    setDraft({ ...draft, ...change });
    setIsSaved(false);
  };
  return (
    <WorkForm
      className="form"
      word="Save Changes"
      work={() => client.updateSettings({ body: bodyOf(draft) })}
      onDone={() => setIsSaved(true)}
    >
      <section className="card stack" aria-labelledby="placement">
        <h2 id="placement">Sandboxes</h2>
        <GroupingField
          value={draft.sandbox_grouping_strategy}
          onChange={(strategy) => set({ sandbox_grouping_strategy: strategy })}
        />
        <LimitFacts limits={settings.limits} />
      </section>
      <AgentSection
        value={draft.conversation_settings}
        onChange={(conversation_settings) => set({ conversation_settings })}
      />
      <GitSection value={draft} onChange={set} />
      {isSaved ? <Notice tone="good">Settings are saved.</Notice> : null}
    </WorkForm>
  );
}

/** Only what this page shows: another client may have changed the rest. */
function bodyOf({ conversation_settings, ...draft }: Settings) {
  const { sandbox_grouping_strategy, git_user_name, git_user_email } = draft;
  const { max_iterations, confirmation_mode, security_analyzer } = conversation_settings;
  const conversation_settings_diff = { max_iterations, confirmation_mode, security_analyzer };
  return { sandbox_grouping_strategy, git_user_name, git_user_email, conversation_settings_diff };
}
