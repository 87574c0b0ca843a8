import { describe, expect, it } from 'vitest';
import type { FieldError } from '../kind-definition.js';
import { validateAutoscalerSpec } from './autoscaler.validation.js';

describe('the metrics of an autoscaler', () => {
  it('takes no word for a type that is only the name of what every object inherits', () => {
    const errors: FieldError[] = [];
    validateAutoscalerSpec(
      {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 2,
        metrics: [{ type: 'constructor' }],
      },
      errors,
    );
    expect(errors.map(({ field, type }) => `${field} ${type}`)).toEqual([
      'spec.metrics[0].type FieldValueNotSupported',
    ]);
  });
});
