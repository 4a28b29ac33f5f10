/**
 * openAgent: opens the agent's conversation, or arms the one that exists with this incarnation's keys (D15).
 * Owns what the agent gets to know: a virtual proxy key of its own conversation, never the gateway's (D19).
 */
import type { ConversationSpec } from '../core/conversation/state.ts';
import { ParleyError } from '../core/parley-error.ts';
import { asksBeforeActing, type PlanAgent } from '../core/plan/plan-agent.ts';
import { refusedAs, type Handler } from './activity.ts';
import { reportOf } from './agent-report.ts';
import { agentTarget } from './agent-target.ts';
import { workspaceFacts } from './in-sandbox.ts';
import { launchFacts } from './launch-facts.ts';
import { preparePlugins } from './prepare-plugins.ts';
import { openSecrets } from './redaction.ts';
import type { World } from './world.ts';

/** Model name when the job leaves the choice to the proxy's only entry. */
const MODEL_DEFAULT = 'default';

export const openAgent = (world: World): Handler<'openAgent'> => ({
  run: async (command) => {
    const { conversationId, generation } = command;
    const target = await agentTarget(world, command);
    const { workingDir } = await workspaceFacts(world, conversationId);
    const { extraHeaders, plugins, agent } = await launchFacts(world.vault, conversationId);
    const chosen = agent ?? world.deployment.agent ?? null;
    requireAsking(chosen, command.confirmation);
    const folders = await preparePlugins(world, target, { command, plugins });
    const view = await world.agent.openConversation(target, {
      conversationId,
      workingDir,
      llm: {
        model: command.model ?? MODEL_DEFAULT,
        baseUrl: `${target.address.routes.proxyUrl}/v1`,
        apiKey: world.keys.proxyKey(conversationId, generation),
        extraHeaders,
        sessionHeader: `x-${world.deployment.vendor}-session-id`,
      },
      secrets: await openSecrets(world, conversationId),
      tags: command.tags,
      iterationsMax: command.iterationsMax,
      confirmation: command.confirmation,
      userId: command.userId,
      ...(folders.length === 0 ? {} : { plugins: folders }),
      ...agentFor(chosen),
    });
    return { type: 'agentOpened', commandId: command.id, report: reportOf(view, generation) };
  },
  failed: refusedAs('stepFailed'),
});

/** A compiled job is refused before; the deployment may have the agent, and a caller the policy. @throws ParleyError */
function requireAsking(agent: PlanAgent | null, confirmation: ConversationSpec['confirmation']): void {
  if (agent === null || confirmation === 'never' || asksBeforeActing(agent)) return;
  throw new ParleyError(
    'invalid_request',
    `Cannot open the conversation: agent "${agent.name}" acts without asking, and its policy is "${confirmation}"`,
  );
}

/** Our own agent needs no word. */
function agentFor(agent: PlanAgent | null): { readonly agent?: PlanAgent } {
  return agent === null || agent.command.length === 0 ? {} : { agent };
}
