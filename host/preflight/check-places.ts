/**
 * What a deployment needs of this machine to begin: folders that take files, ports that are free.
 * Owns which; each try is in a file of its own.
 */
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Finding } from '../finding.ts';
import { placesOf } from '../sandboxes/places.ts';
import { checkFolder } from './check-folder.ts';
import { checkPorts } from './check-ports.ts';

export async function checkPlaces(config: DeploymentConfig): Promise<readonly Finding[]> {
  return [
    checkFolder('data directory', config.dataDir),
    checkFolder('results', config.resultsDir),
    ...(await checkPorts(config, placesOf(config.dataDir).controlSocket)),
  ];
}
