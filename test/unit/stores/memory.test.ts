import t from 'tap'
import { plantStoreSuites } from '../../fixtures/plant-store-suite.ts'

plantStoreSuites(t, () => 'memory:')
