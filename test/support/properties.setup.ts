// The properties that name no seed, or no number of runs, have these.
import fc from 'fast-check';
import { PROPERTY_SEED, propertyRuns } from '../../src/testing/property-runs.js';

const { numRuns } = propertyRuns({ gate: 100 });
fc.configureGlobal({ seed: PROPERTY_SEED, numRuns });
