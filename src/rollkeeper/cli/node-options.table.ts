import { decimal, file, onOrOff, wholeNumber } from '@rollkeeper/machinery/options/option-table';
import { NODE_FILE_OPTIONS, SCHEDULER_FILE_OPTIONS } from '../scheduler-process/scheduler-options.table.js';

/** The options of `rollkeeper node`. */
export const NODE_OPTIONS_TABLE = {
  nodes: wholeNumber({ help: 'nodes to play', value: 'count', least: 1, most: 1000, default: 3 }),
  kubeconfig: file({ help: 'the API to play on', shownDefault: 'as kubectl finds it' }),
  'ready-delay-ms': decimal({
    unit: 'ms',
    value: 'ms',
    help: 'from the start of a container until it is ready',
    least: 0,
    default: 0,
  }),
  'termination-delay-ms': decimal({
    unit: 'ms',
    value: 'ms',
    help: 'from the deletion of a pod until it is gone',
    least: 0,
    default: 0,
  }),
  concurrency: wholeNumber({ help: 'writes to the API at once', value: 'count', least: 1, default: 32 }),
  'pods-per-node': wholeNumber({
    help: 'pods that fit on one node',
    value: 'count',
    least: 1,
    default: 10_000,
  }),
  ...NODE_FILE_OPTIONS,
  scheduler: onOrOff({ help: 'schedule pods as well', default: true }),
  ...SCHEDULER_FILE_OPTIONS,
};
