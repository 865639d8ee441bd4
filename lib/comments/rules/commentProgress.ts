import * as z from 'zod';
import {
  defineNamedSchema,
  defineSchema,
  Id,
  limits,
  list,
  OpenObject,
  optional,
  Text,
  unchangedObject,
} from '../../shared/schema.ts';
import { Instant } from '../../shared/times.ts';

const MAX_STEPS = 100;
const MAX_ACTIONS = 20;

const Step = /* @__PURE__ */ defineNamedSchema('ProgressStepInput', () =>
  z
    .object({
      label: Text.min(1).describe('The text that users see for the step.'),
      id: optional(Id).describe('Your own name of the step.'),
      state: optional(z.enum(['pending', 'active', 'completed', 'failed'])).describe('How far the step is.'),
      startedAt: optional(Instant).describe('When the step began, in epoch milliseconds or ISO 8601.'),
      completedAt: optional(Instant).describe('When the step ended, in epoch milliseconds or ISO 8601.'),
      metadata: optional(OpenObject).describe('Own fields of the step.'),
    })
    .describe('A step of the work that a comment reports.'),
);

export const Progress = /* @__PURE__ */ defineNamedSchema('ProgressInput', () =>
  unchangedObject(
    z
      .object({
        state: z.enum(['active', 'completed', 'failed', 'cancelled']).describe('How far the work is.'),
        steps: optional(list(Step, MAX_STEPS, 0)).describe(
          'The parts of the work, in the order in which clients show them.',
        ),
        visibleToUserIds: optional(list(Id, limits.list, 0)).describe(
          'For clients: the users to whom they show the progress. The service returns it to every reader.',
        ),
        startedAt: optional(Instant).describe('When the work began, in epoch milliseconds or ISO 8601.'),
      })
      .describe('The progress of work, stored and returned unchanged.'),
  ),
);

const Action = /* @__PURE__ */ defineNamedSchema('ActionInput', () =>
  unchangedObject(
    z
      .object({
        id: Id.describe('Your own name of the action.'),
        label: optional(Text).describe('The text on the button.'),
        icon: optional(Text).describe('The picture on the button, in a form of your choice.'),
        disabled: optional(z.boolean()).describe('Whether clients show the button without effect.'),
        hidden: optional(z.boolean()).describe('Whether clients leave the button out.'),
        metadata: optional(OpenObject).describe('Own fields of the action.'),
      })
      .describe('A button that clients show, stored and returned unchanged.'),
  ),
);

export const Actions = /* @__PURE__ */ defineSchema(() => list(Action, MAX_ACTIONS, 0));
