/** Makes the cloud assembly of the local run in the folder given as argument; a process of its own, see assemblyCache.ts. */
import { synthesise } from '../synthesise.ts';

const [outdir] = process.argv.slice(2);
if (!outdir) throw new Error('Give the folder to write to');

// The settings whose values differ from a deployment's: here there is no operator to create workspaces or to verify an
// address with SES.
await synthesise({ outdir, settings: { workspaceCreation: 'open', mailFrom: 'no-reply@example.com' } });
