UPDATE jobs SET labels = '["environment=env_000000000001","project=prj_000000000001"]' WHERE kind = 'run.rerun';
INSERT INTO runner_logs (operation_id, attempt, log) SELECT operation_id, 1, 'a line of a program' FROM jobs;
