import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { readEditors } from '../../../../lib/editors/editorReader.ts';
import { versionEditor, VersionId } from '../../../../lib/editors/rules/versions.ts';
import { compareValues } from '../../../../lib/editors/rules/yjs/compareValues.ts';
import { openDocument } from '../../../../lib/editors/rules/yjs/document.ts';
import { readValue } from '../../../../lib/editors/rules/yjs/readValue.ts';
import { findEditor } from '../../../../lib/editors/versions/findVersions.ts';
import { readVersionValue } from '../../../../lib/editors/versions/readVersion.ts';
import { readVersions } from '../../../../lib/editors/versions/versionStore.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { optional } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

const Operation = z.object({
  at: z.number().describe('The position in the text as the operations before have changed it, in UTF-16 code units.'),
  delete: z.number().describe('How many code units are deleted there.'),
  insert: z.string().describe('What is inserted there.'),
});

const Change = z.object({
  path: z
    .array(z.union([z.string(), z.number()]))
    .describe('The keys and indexes that lead to the value, as the changes before have left it.'),
  from: z.unknown().optional().describe('The value in the older version. Absent if it was added.'),
  to: z.unknown().optional().describe('The value in the newer version. Absent if it was removed.'),
});

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/versions/compare',
    summary: 'Compare two versions of a collaborative editor, or a version with the present value',
    description:
      'For `text` and `xml`, the answer has `operations`: applied in their order to the value of `from`, they give the value of `to`. For `map` and `array`, it has `changes`, in the same sense. ' +
      'An answer has at most 10,000 of them and 4 MB. `truncated` is true if others were left out. For an API key, or a user token with the role editor on the document. An unknown editor, version or document is NOT_FOUND.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document' }),
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({
      ...versionEditor,
      from: VersionId.describe('The older version, by its id.'),
      to: optional(VersionId).describe('The newer version, by its id. By default the present value of the editor.'),
    }),
    output: z.object({
      data: z.object({
        operations: z.array(Operation).optional().describe('Only for `text` and `xml`.'),
        changes: z.array(Change).optional().describe('Only for `map` and `array`.'),
        truncated: z.literal(true).optional().describe('True if differences were left out. Otherwise absent.'),
      }),
    }),
    message: 'Versions compared successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findEditor, versions: readVersions, editors: readEditors },
    impact: 'users cannot see what changed between versions of their editors',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        from: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
      },
      result: { data: { operations: [{ at: 23, delete: 0, insert: 'al' }] } },
    },
    cost: { calls: 6, roundTrips: 4, readUnits: 6, writeUnits: 0 },
  },
  async ({ input: { from, to, ...reference }, caller, deps }) => {
    const found = await deps.findEditor(caller.tenant, reference);
    const { editor, head } = found;
    const readPresent = async () => {
      const { updates } = await deps.editors.require(editor, head.editorId);
      return readValue(openDocument(updates), head.type, head.contentKey);
    };
    const [older, newer] = await Promise.all([
      readVersionValue(deps.versions, found, from),
      to === undefined ? readPresent() : readVersionValue(deps.versions, found, to),
    ]);
    return { data: compareValues(head.type, older, newer) };
  },
);

export const handler = toLambda(endpoint);
