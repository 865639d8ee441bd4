import * as z from 'zod';
import { defineConfig } from '../configs.ts';

/** What the operator offers to an API key. Only the operator's command writes it; what is absent is offered. */
export const FeaturesEntity = defineConfig('Features', 'What the operator does not offer to an API key', z.object({
  advancedWebhooks: z.boolean().optional(),
}));
