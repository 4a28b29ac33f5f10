/** The store on a real PostgreSQL server of this machine's programs, or in a container where they are missing. */
import { startPostgres } from '../../scripts/postgres-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { postgresSuite } from './postgres-suite.ts';

describeWith('postgres', 'PostgreSQL as a server', () => postgresSuite(() => startPostgres()));
