-- What is found without reading everything: the events of the project, the judgements of a document, and counts.
CREATE INDEX IF NOT EXISTS events_project ON events (seq) WHERE assessor = '';
CREATE INDEX IF NOT EXISTS judgements_document ON judgements (topic, document, status, assessor);
CREATE INDEX IF NOT EXISTS judgements_work ON judgements (assessor, topic, status, flagged);
CREATE INDEX IF NOT EXISTS pool_order ON pool (topic, position);
