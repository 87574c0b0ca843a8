import { decimal, file, onOrOff, wholeNumber } from '@rollkeeper/machinery/options/option-table';
import {
  NODE_FILE_OPTIONS,
  SCHEDULER_FILE_OPTIONS,
} from '../replica/scheduler-process/scheduler-options.table.js';

/** The options of `rollkeeper node`. */
export const NODE_OPTIONS_TABLE = {
  nodes: wholeNumber({ help: 'simulated nodes', value: 'count', least: 1, most: 1000, default: 3 }),
  kubeconfig: file({ help: 'the cluster to use', shownDefault: "kubectl's rules" }),
  'ready-delay-ms': decimal({
    unit: 'ms',
    value: 'ms',
    help: 'how long a container takes to become ready',
    least: 0,
    default: 0,
  }),
  'termination-delay-ms': decimal({
    unit: 'ms',
    value: 'ms',
    help: 'how long a deleted pod takes to terminate',
    least: 0,
    default: 0,
  }),
  concurrency: wholeNumber({ help: 'concurrent writes to the API', value: 'count', least: 1, default: 32 }),
  'pods-per-node': wholeNumber({
    help: 'maximum pods per node',
    value: 'count',
    least: 1,
    default: 10_000,
  }),
  ...NODE_FILE_OPTIONS,
  scheduler: onOrOff({ help: 'also schedule pods', default: true }),
  ...SCHEDULER_FILE_OPTIONS,
};
