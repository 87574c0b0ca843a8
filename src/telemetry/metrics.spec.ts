import { expect, it } from 'vitest';
import { createControllerMetrics } from './controller-metrics.js';
import { createMetrics } from './metrics.js';

it('serves reconcile counters at zero before the first sync, under the names that dashboards know', async () => {
  const metrics = createMetrics();
  createControllerMetrics(metrics.meter, new Map([['deployment', 5]]));

  const text = await metrics.serialize();

  expect(text).toContain('# TYPE controller_runtime_reconcile_total counter');
  expect(text).toContain('controller_runtime_reconcile_total{controller="deployment",result="success"} 0');
  await metrics.shutdown();
});

it('counts a failed sync as an error and puts its length into the histogram', async () => {
  const metrics = createMetrics();
  const controllerMetrics = createControllerMetrics(metrics.meter, new Map([['deployment', 5]]));

  controllerMetrics.reconciled('deployment', 'error', 0.2);

  const text = await metrics.serialize();
  expect(text).toContain('controller_runtime_reconcile_errors_total{controller="deployment"} 1');
  expect(text).toContain(
    'controller_runtime_reconcile_time_seconds_bucket{controller="deployment",le="0.2"} 1',
  );
  await metrics.shutdown();
});
