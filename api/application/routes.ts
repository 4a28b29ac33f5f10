/**
 * Every route of the application API: the table of contents of these folders.
 * Owns the list only; docs/api.md holds the same, and a test compares them.
 */
import { CONFIGURATION_ROUTES } from '../configuration/configuration-routes.ts';
import { CONVERSATION_CHANGE_ROUTES } from '../conversations/change-routes.ts';
import { DOWNLOAD_ROUTES, PLACEMENT_ROUTES, CONVERSATION_READ_ROUTES } from '../conversations/read-routes.ts';
import { MESSAGE_ROUTES } from '../conversations/message-routes.ts';
import { START_ROUTES } from '../conversations/start-routes.ts';
import { WORKSPACE_ROUTES } from '../conversations/workspace-routes.ts';
import { EVENT_ROUTES } from '../events/event-routes.ts';
import { JOB_ROUTES } from '../jobs/job-routes.ts';
import { SIMULATION_ROUTES } from '../jobs/simulation-routes.ts';
import { KEY_ROUTES } from '../keys/key-routes.ts';
import { PROXY_KEY_ROUTES } from '../keys/proxy-key-routes.ts';
import { CAPACITY_ROUTES } from '../overview/capacity-routes.ts';
import { SPEND_ROUTES } from '../overview/spend-routes.ts';
import { TROUBLE_ROUTES } from '../overview/trouble-routes.ts';
import { RUN_ITEM_ROUTES } from '../runs/item-routes.ts';
import { RUN_COMMAND_ROUTES } from '../runs/run-command-routes.ts';
import { RUN_REPORT_ROUTES } from '../runs/report-routes.ts';
import { RUN_ROUTES } from '../runs/run-routes.ts';
import { SANDBOX_ROUTES } from '../sandboxes/sandbox-routes.ts';
import { SANDBOX_SECRET_ROUTES } from '../sandboxes/secret-routes.ts';
import { PROFILE_ROUTES } from '../settings/profile-routes.ts';
import { USAGE_ROUTES } from '../conversations/usage-routes.ts';
import { SECRET_ROUTES } from '../settings/secret-routes.ts';
import { SETTINGS_ROUTES } from '../settings/settings-routes.ts';
import { SERVICE_ROUTES } from './service-routes.ts';

export const APPLICATION_ROUTES = [
  ...START_ROUTES,
  ...CONVERSATION_READ_ROUTES,
  ...PLACEMENT_ROUTES,
  ...USAGE_ROUTES,
  ...MESSAGE_ROUTES,
  ...CONVERSATION_CHANGE_ROUTES,
  ...WORKSPACE_ROUTES,
  ...DOWNLOAD_ROUTES,
  ...EVENT_ROUTES,
  ...SANDBOX_ROUTES,
  ...SANDBOX_SECRET_ROUTES,
  ...RUN_ROUTES,
  ...RUN_ITEM_ROUTES,
  ...RUN_REPORT_ROUTES,
  ...RUN_COMMAND_ROUTES,
  ...JOB_ROUTES,
  ...SIMULATION_ROUTES,
  ...SETTINGS_ROUTES,
  ...PROFILE_ROUTES,
  ...SECRET_ROUTES,
  ...KEY_ROUTES,
  ...PROXY_KEY_ROUTES,
  ...CAPACITY_ROUTES,
  ...SPEND_ROUTES,
  ...TROUBLE_ROUTES,
  ...CONFIGURATION_ROUTES,
  ...SERVICE_ROUTES,
] as const;
