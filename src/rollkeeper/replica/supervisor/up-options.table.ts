import { oneOf, text, wholeNumber } from '@rollkeeper/machinery/options/option-table';
import { INVALID_POLICIES_OPTION } from '../../terminal/invalid-policies-option.js';
import { REDIS_URL_OPTION, redisUrlHelp } from '../../terminal/redis-url-option.js';
import { NODE_FILE_OPTIONS, SCHEDULER_FILE_OPTIONS } from '../scheduler-process/scheduler-options.table.js';

/** The options of `rollkeeper up`. */
export const UP_OPTIONS_TABLE = {
  'redis-url': text({ ...REDIS_URL_OPTION, help: redisUrlHelp('use this Redis instead of starting one') }),
  replicas: wholeNumber({ help: 'controller replicas', value: 'count', least: 1, most: 20, default: 3 }),
  nodes: wholeNumber({ help: 'simulated nodes', value: 'count', least: 0, most: 1000, default: 3 }),
  ...NODE_FILE_OPTIONS,
  'data-dir': text({
    help: 'folder for all data',
    value: 'folder',
    notEmpty: 'must name a folder',
    default: '.rollkeeper',
  }),
  port: wholeNumber({
    help: 'port of the API server on 127.0.0.1; 0 lets the system choose',
    value: 'port',
    least: 0,
    most: 65_535,
    default: 16_443,
  }),
  'console-port': wholeNumber({
    help: 'port of the console on 127.0.0.1, served by the first replica',
    shownDefault: 'the last port, otherwise the one after --port; any free port if that is taken',
    value: 'port',
    least: 1,
    most: 65_535,
  }),
  scheduler: oneOf(['node', 'process', 'none'], {
    help: 'where the scheduler runs: in the process of the simulated nodes, in its own process, or nowhere',
    default: 'node',
  }),
  ...SCHEDULER_FILE_OPTIONS,
  ...INVALID_POLICIES_OPTION,
  'feature-gates': text({
    help: 'APIs of a newer Kubernetes as a preview, for example EvictionRequestAPI=true (docs/API-SERVER.md)',
    value: 'gates',
    default: '',
    shownDefault: 'all are off',
  }),
};
