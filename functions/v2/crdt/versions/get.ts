import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { EditorValue } from '../../../../lib/editors/rules/editors.ts';
import {
  exampleVersion,
  toVersionResponse,
  versionEditor,
  VersionId,
  VersionResponse,
} from '../../../../lib/editors/rules/versions.ts';
import { findEditor } from '../../../../lib/editors/versions/findVersions.ts';
import { listVersions } from '../../../../lib/editors/versions/listVersions.ts';
import { readVersion } from '../../../../lib/editors/versions/readVersion.ts';
import { readVersions } from '../../../../lib/editors/versions/versionStore.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { NextToken, optional, PageToken } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

const path = '/v2/crdt/versions/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the versions of a collaborative editor, or one of them with its value',
    description:
      'Without `versionId`, the newest version is first, and values are left out. A page can be short or empty: continue with the `nextPageToken` of the answer while it is not null. ' +
      'With `versionId`, the answer has the version, its value as `data` and, with `includeState`, its state. If both are too large for one answer, `data` is left out. ' +
      'For an API key, or a user token with the role editor on the document, because a version shows text that was deleted later. An unknown editor, version or document is NOT_FOUND.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document' }),
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({
      ...versionEditor,
      versionId: optional(VersionId).describe('Only this version, with its value. By default the versions in pages.'),
      includeState: optional(z.boolean()).describe('Also the state as a Yjs update in base64. Only with `versionId`.'),
      named: optional(z.literal(true)).describe('Only versions that stay: true. By default all versions.'),
      pageSize: optional(z.int().min(1).max(100)).describe(
        'The largest number of versions in the answer. The default is 100.',
      ),
      pageToken: optional(PageToken),
    }),
    output: z.object({
      data: z.object({
        versions: z.array(VersionResponse).optional().describe('The versions, the newest first.'),
        nextPageToken: NextToken.optional(),
        version: VersionResponse.optional(),
        data: EditorValue.optional().describe('The value of the version, as `/v2/crdt/get` returns values.'),
        state: z.string().optional().describe('The state of the version, as a Yjs update in base64.'),
      }),
    }),
    message: 'Version(s) retrieved successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    answerBytes: 6_000_000,
    uses: { findEditor, versions: readVersions },
    impact: 'users cannot see the history of their editors',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', editorId: 'summary', pageSize: 20 },
      result: { data: { versions: [exampleVersion], nextPageToken: null } },
    },
    cost: { calls: 4, roundTrips: 3, readUnits: 4, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { versionId, includeState = false, named = false, pageSize = 100, pageToken, ...reference } = input;
    const { editor, head } = await deps.findEditor(caller.tenant, reference);
    if (versionId !== undefined)
      return { data: await readVersion(deps.versions, { editor, head }, versionId, includeState) };
    const pages = paging(caller, [path, editor.internalId, String(named)], { pageToken }, now);
    const page = await listVersions(deps.versions, editor, { named, limit: pageSize, after: pages.after });
    return { data: { versions: page.values.map(toVersionResponse), nextPageToken: pages.next(page.next) } };
  },
);

export const handler = toLambda(endpoint);
