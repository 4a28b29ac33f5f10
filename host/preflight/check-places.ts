/**
 * What a deployment needs around it to begin: folders and a bucket that take files, ports that are free.
 * Owns which; each try is in a file of its own.
 */
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Finding } from '../finding.ts';
import { placesOf } from '../sandboxes/places.ts';
import { checkBucket } from './check-bucket.ts';
import { checkFolder } from './check-folder.ts';
import { checkPorts } from './check-ports.ts';

export async function checkPlaces(config: DeploymentConfig): Promise<readonly Finding[]> {
  return [
    checkFolder('data directory', config.dataDir),
    checkFolder('results', config.resultsDir),
    ...(config.bucket === null ? [] : [await checkBucket(config.bucket)]),
    ...(await checkPorts(config, placesOf(config.dataDir).controlSocket)),
  ];
}
