import { defineWebhook } from '@rollkeeper/webhooks';
import { Website } from './kinds.ts';

/** Asked before a Website is stored. */
export const websiteWebhook = defineWebhook(Website, {
  default(website) {
    website.spec.image = website.spec.image.trim();
  },
  validate({ spec: { image } }, { warn }) {
    if (image.endsWith(':latest')) warn('an image with the tag latest may change without a rollout');
    return /\s/.test(image) ? { field: 'spec.image', message: 'must not contain spaces' } : undefined;
  },
});
