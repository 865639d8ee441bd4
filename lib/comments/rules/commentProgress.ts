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
  z.object({
    label: Text.min(1),
    id: optional(Id),
    state: optional(z.enum(['pending', 'active', 'completed', 'failed'])),
    startedAt: optional(Instant),
    completedAt: optional(Instant),
    metadata: optional(OpenObject),
  }),
);

/**
 * The progress of the work that a comment reports. It is stored and returned unchanged. Clients apply `visibleToUserIds`, and the
 * service does not.
 */
export const Progress = /* @__PURE__ */ defineNamedSchema('ProgressInput', () =>
  unchangedObject(
    z.object({
      state: z.enum(['active', 'completed', 'failed', 'cancelled']),
      steps: optional(list(Step, MAX_STEPS, 0)),
      visibleToUserIds: optional(list(Id, limits.list, 0)),
      startedAt: optional(Instant),
    }),
  ),
);

const Action = /* @__PURE__ */ defineNamedSchema('ActionInput', () =>
  unchangedObject(
    z.object({
      id: Id,
      label: optional(Text),
      icon: optional(Text),
      disabled: optional(z.boolean()),
      hidden: optional(z.boolean()),
      metadata: optional(OpenObject),
    }),
  ),
);

/** The buttons that clients show for a comment or thread. They are stored and returned unchanged. */
export const Actions = /* @__PURE__ */ defineSchema(() => list(Action, MAX_ACTIONS, 0));
