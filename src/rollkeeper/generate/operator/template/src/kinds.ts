import { defineCustomKind } from '@rollkeeper/runtime';
import type { ObjectOf } from '@rollkeeper/runtime';
import { z } from 'zod';

/** `npm run generate` makes its CustomResourceDefinition. */
export const Website = defineCustomKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  spec: z.object({
    image: z.string().min(1).describe('The image of its containers.'),
    replicas: z.int().min(0).max(100).default(2),
  }),
  status: z.object({ ready: z.boolean().optional() }),
  columns: [{ name: 'Ready', jsonPath: '.status.ready', type: 'boolean' }],
});
export type Website = ObjectOf<typeof Website>;
