import * as z from 'zod';
import { openVersion, sealVersion } from '../../../../lib/agents/agentSecrets.ts';
import { changeAgents } from '../../../../lib/agents/agentWriter.ts';
import { onlyCustomAgents, unknownAgent } from '../../../../lib/agents/rules/agents.ts';
import { findBuiltInAgent } from '../../../../lib/agents/rules/builtIn.ts';
import {
  behaviourOf,
  refuseKeys,
  SentVersion,
  serverManagedKeys,
  type Version,
  versionAfter,
  versionFields,
} from '../../../../lib/agents/rules/configuration.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { validate } from '../../../../lib/http/validate.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/version/update',
    summary: 'Change what a review agent does. This creates a new version',
    description:
      'Writes the next version and returns its number. Send at least one field besides `agentId`. ' +
      'A block, such as `execution`, is merged key by key. Nested values, lists and `metadata` are replaced as a whole. `__redacted__` keeps the stored secret, and is INVALID_ARGUMENT where none is stored. ' +
      'Parallel calls all succeed, one after the other. ' +
      'A built-in agent is INVALID_ARGUMENT, an unknown one NOT_FOUND. Undo the change with `/v2/agents/versions/restore`. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: SentVersion.check(
      requireChange(
        versionFields,
        `At least one of these must be given: ${versionFields.join(', ')}.`,
        // A request with only server-managed fields gets only the error of these fields.
        (sent) =>
          sent.metadata !== undefined ||
          Object.keys(behaviourOf(sent)).length > 0 ||
          serverManagedKeys(sent).length > 0,
      ),
    ),
    output: z.object({
      data: z.object({ version: z.number().describe('The number of the new version, one more than before.') }),
    }),
    message: 'Agent version created successfully',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { agents: changeAgents, box: secretBox },
    impact: 'customers cannot change what their review agents do',
    example: {
      data: {
        agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
        instructions: 'Report every sentence that is not friendly or too long.',
        response: { useAiFormatting: true },
      },
      result: { data: { version: 2 } },
    },
  },
  async ({ input, caller: { tenant }, deps, now, repeatableId }) => {
    const { agentId } = input;
    refuseKeys(serverManagedKeys(input));
    if (findBuiltInAgent(agentId)) throw onlyCustomAgents();
    const version = await deps.agents.addVersion(
      tenant,
      agentId,
      async (current) => {
        const after = validate(versionAfter(await openVersion(deps.box, tenant, agentId, current)), input) as Version;
        return sealVersion(deps.box, tenant, agentId, after);
      },
      { callId: repeatableId('ver', 0), now },
    );
    if (version === undefined) throw unknownAgent();
    return { data: { version } };
  },
);

export const handler = toLambda(endpoint);
