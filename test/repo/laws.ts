/**
 * The list of laws, by the name under which a violation is reported.
 * A new law is added here, and its file of tests breaks it on a made-up tree.
 */
import { bannedCalls, chanceIsSeeded } from './laws/banned-calls.ts';
import { consoleKeepsToItself } from './laws/console.ts';
import { cycles } from './laws/cycles.ts';
import { cliDocumented, environmentDocumented, routesDocumented } from './laws/documented.ts';
import { errorCodes } from './laws/error-codes.ts';
import { examplesCompile } from './laws/examples.ts';
import { foreignArguments } from './laws/foreign-arguments.ts';
import { layers } from './laws/layers.ts';
import { dependencies } from './laws/packages.ts';
import {
  filesNamedExist,
  lawsLookSomewhere,
  namesDeclared,
  pathsExist,
  roomsEnteredOnce,
  roomsTold,
} from './laws/pointers.ts';
import { ciRunsReadme, commandsExist, foldersMapped, invariantsStated, oneTitle } from './laws/pages.ts';
import { peers } from './laws/peers.ts';
import { reachable } from './laws/reachable.ts';
import { sessionCap } from './laws/session-cap.ts';
import { specIds } from './laws/spec-ids.ts';
import { headers, meaningfulNames, namedExports } from './laws/shape.ts';
import { publicExportsDocumented, rooms } from './laws/rooms.ts';
import { fileSizes, functionSizes } from './laws/sizes.ts';
import { bannedWords } from './laws/words.ts';
import type { Law } from './tree.ts';

export const LAWS: Readonly<Record<string, Law>> = {
  'imports follow the table of ARCHITECTURE.md': layers,
  'no import cycles': cycles,
  'file sizes': fileSizes,
  'rooms are neither crowded nor crumbled': rooms,
  'public exports are documented': publicExportsDocumented,
  'function sizes': functionSizes,
  'files open with a paragraph': headers,
  'exports are named': namedExports,
  'file names say something': meaningfulNames,
  'pure folders ask nothing of the world': bannedCalls,
  'chance comes from a seed': chanceIsSeeded,
  'no foreign text is an option of Git on the host': foreignArguments,
  'nothing that a peer sends throws out of a callback': peers,
  'the console keeps to itself': consoleKeepsToItself,
  'no leftover markers, machine paths or registry hosts': bannedWords,
  'error codes: catalogue, page, code and tests agree': errorCodes,
  'commands and flags are documented': cliDocumented,
  'routes are documented': routesDocumented,
  'environment variables are documented': environmentDocumented,
  'nothing reaches the cap of a session': sessionCap,
  'commands in the pages exist': commandsExist,
  'CI runs the test command of the README': ciRunsReadme,
  'folders are in the code map': foldersMapped,
  'folders have invariants': invariantsStated,
  'folders within folders are told': roomsTold,
  'pages have one title': oneTitle,
  'pages point to what is there': pathsExist,
  'comments and pages name files that exist': filesNamedExist,
  'walks and questions name what is declared': namesDeclared,
  'walks enter no room twice, or say why': roomsEnteredOnce,
  'laws look into folders that exist': lawsLookSomewhere,
  'dependencies have a reason and a user': dependencies,
  'examples are valid jobs': examplesCompile,
  'rows and rules of the specification have tests': specIds,
  'every file is part of something that runs': reachable,
};
