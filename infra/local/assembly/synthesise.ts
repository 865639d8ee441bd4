/**
 * Writes the cloud assembly of the local run into the folder given as argument. The second argument `heartbeat` adds the heartbeat.
 * `assemblyCache.ts` runs this file in a child process.
 */
import { synthesise } from '../../build/synthesise.ts';
import { assemblySettings } from './assemblySettings.ts';

const [outdir, heartbeat] = process.argv.slice(2);
if (!outdir) throw new Error('Give the folder to write to');

await synthesise({ outdir, settings: assemblySettings({ hasHeartbeat: heartbeat === 'heartbeat' }) });
