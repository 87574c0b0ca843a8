import { expect, it } from 'vitest';
import { createControllerMetrics, observeReadability } from '../runtime/telemetry/controller-metrics.js';
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

it('says 1 of resources that cannot be read for as long as they cannot, and 0 of those that are needed', async () => {
  const metrics = createMetrics();
  let resources = [
    { controller: 'deployment', resource: 'pods', isReadable: true },
    { controller: 'garbage-collector', resource: 'widgets.example.com', isReadable: false },
  ];
  observeReadability(metrics.meter, () => resources);
  const widgets =
    'rollkeeper_unreadable_resources{controller="garbage-collector",resource="widgets.example.com"}';

  const text = await metrics.serialize();
  resources = resources.slice(0, 1);
  const later = await metrics.serialize();

  expect(text).toContain('rollkeeper_unreadable_resources{controller="deployment",resource="pods"} 0');
  expect(text).toContain(`${widgets} 1`);
  expect(later).toContain(`${widgets} 0`);
  await metrics.shutdown();
});
