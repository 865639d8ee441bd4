import * as z from 'zod';
import { defineSchema } from '../../shared/schema.ts';

/** `ids` belongs to changes of content, the other optional fields to changes of editors. */
const HintResponse = /* @__PURE__ */ defineSchema(() =>
  z.object({
    type: z
      .string()
      .describe('What changed, such as `comment.add`. `hidden` stands for content that the user may not see now.'),
    at: z.number().describe('When the change was written, in epoch milliseconds.'),
    ids: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe('The ids of the changed content by name, such as `annotationId`.')
      .optional(),
    editorId: z.string().optional(),
    editorKey: z
      .string()
      .describe('The internal id of the editor. An editor that was deleted and added again has another one.')
      .optional(),
    editorVersion: z.number().describe('The number of the update in the editor.').optional(),
    by: z.string().describe('The user who changed the editor, if known.').optional(),
  }),
);

export const MissedChanges = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      hints: z
        .array(
          HintResponse.extend({
            version: z.number().describe('The position in the document channel. It counts without a gap.'),
          }),
        )
        .describe('Hints of the document channel after `after`, at most 500.'),
      userHints: z
        .array(HintResponse.extend({ id: z.string().describe('Identifies the hint. Skip one that you have.') }))
        .describe('The latest 500 hints of the channel of the user.'),
      version: z.number().describe('The position of the last hint in the answer: `after` of the next call.'),
      complete: z.boolean().describe('False if hints are missing. Then read everything again.'),
      hasMore: z.boolean().describe('Whether more hints follow after `version`.'),
    })
    .describe('The missed hints.'),
);
