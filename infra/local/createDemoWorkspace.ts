/** Prints the credentials of a new demo workspace as JSON. */
import { environment } from '../../lib/app/capability.ts';
import { createVerifiedWorkspace } from '../commands/workspace.ts';

async function create(email: string): Promise<object | undefined> {
  const created = await createVerifiedWorkspace({ email, env: environment(process.env), now: Date.now() });
  return created === 'exists' ? undefined : { ownerEmail: email, ...created };
}

// If an earlier run was killed before it stored the credentials, its address is in use.
const created = (await create('demo@example.com')) ?? (await create(`demo+${Date.now()}@example.com`));
if (!created) throw new Error('There is no free e-mail address for the demo workspace');
process.stdout.write(JSON.stringify(created));
