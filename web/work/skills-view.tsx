/**
 * The skills and hooks that hold in this conversation: what its workspace brings.
 * Owns the two lists.
 */
import { type ReactElement, useCallback } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Code } from '../code/code.tsx';
import { Loaded, Tags } from '../components/parts.tsx';
import type { ViewProps } from '../conversation/conversation-table.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { useSession } from '../session/session.ts';
import { labelOf } from '../text/words.ts';

const EVERY_MS = 30_000;

export function SkillsView({ id }: ViewProps): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const params = { conversation_id: id };
      const [{ skills }, { hooks }] = await Promise.all([
        client.listSkills({ params }, { signal }),
        client.listHooks({ params }, { signal }),
      ]);
      return { skills, hooks };
    },
    [client, id],
  );
  return (
    <Loaded of={usePolled(ask, EVERY_MS)}>
      {({ skills, hooks }) => (
        <>
          <Skills skills={skills} />
          <Hooks hooks={hooks} />
        </>
      )}
    </Loaded>
  );
}

type Skill = ResultOf<'list_skills'>['skills'][number];
type Hook = ResultOf<'list_hooks'>['hooks'][number];

const SKILL_KINDS: Readonly<Record<Skill['type'], string>> = {
  repo: 'always',
  knowledge: 'when its words are said',
  agentskills: 'when the agent reads it',
};

function Skills({ skills }: { readonly skills: readonly Skill[] }): ReactElement {
  return (
    <section className="card stack" aria-labelledby="skills">
      <h2 id="skills">Skills</h2>
      {skills.length === 0 ? <p className="quiet">The workspace brings none.</p> : null}
      {skills.map(({ name, type, description, triggers, content }) => (
        <details key={`${type} ${name}`} className="surface">
          <summary>{name}</summary>
          <p className="below">
            <span>{SKILL_KINDS[type]}</span>
            <Tags of={triggers} />
          </p>
          {description === null ? null : <p>{description}</p>}
          <Markdown text={content} />
        </details>
      ))}
    </section>
  );
}

function Hooks({ hooks }: { readonly hooks: readonly Hook[] }): ReactElement {
  return (
    <section className="card stack" aria-labelledby="hooks">
      <h2 id="hooks">Hooks</h2>
      {hooks.length === 0 ? <p className="quiet">The workspace configures none.</p> : null}
      {hooks.map(({ event_type: type, matchers }) => (
        <div key={type} className="surface">
          <p>
            <strong>{labelOf(type)}</strong>
          </p>
          {matchers.flatMap(({ matcher, hooks: commands }, at) =>
            commands.map(({ command, timeout, async: isAsync }, index) => (
              <div key={`${at} ${index}`}>
                <p className="below">
                  <span>for {matcher === '*' ? 'everything' : matcher}</span>
                  <span>at most {timeout} s</span>
                  {isAsync ? <span>not waited for</span> : null}
                </p>
                <Code text={command} language="bash" />
              </div>
            )),
          )}
        </div>
      ))}
    </section>
  );
}
