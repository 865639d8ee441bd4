/** Creates the demo workspace as the operator would and prints its credentials; a process of its own, see demo.ts. */
import { environment } from '../../lib/app/capability.ts';
import { createVerifiedWorkspace } from '../commands/workspace.ts';

async function create(email: string): Promise<object | undefined> {
  const created = await createVerifiedWorkspace({ email, env: environment(process.env), now: Date.now() });
  return created === 'exists' ? undefined : { ownerEmail: email, ...created };
}

// A run that was killed before it had stored the credentials took the workspace's token with it: then a second one.
const created = (await create('demo@example.com')) ?? (await create(`demo+${Date.now()}@example.com`));
if (!created) throw new Error('There is no free e-mail address for the demo workspace');
process.stdout.write(JSON.stringify(created));
