/**
 * How a run lets the next one begin on the newest build, while it stays where it began itself.
 * Owns what a server must be told for it; when a run ends is decided by the driver.
 */
import { makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { DriveInput } from './letter.ts';

/**
 * Ends this run; the next one begins on the current build of the deployment.
 * Servers since 1.30 read it from the command. Server 1.29 does not know that field, and lets the next run of a pinned
 * one inherit its build; there, the task that ends the run says that it is not pinned, and nothing is inherited.
 * Neither is a part of the history, so a replay does not depend on it.
 */
export function goOnWithNewestBuild(input: DriveInput): Promise<never> {
  // A worker without versions must not claim a behaviour: the server would refuse its answer.
  if ((workflowInfo().currentDeploymentVersion?.deploymentName ?? '') !== '') {
    getActivator().versioningBehavior = 'AUTO_UPGRADE';
  }
  const next = makeContinueAsNewFunc<(input: DriveInput) => Promise<void>>({
    initialVersioningBehavior: 'AUTO_UPGRADE',
  });
  return next(input);
}
