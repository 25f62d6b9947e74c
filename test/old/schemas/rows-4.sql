INSERT INTO meta (name, value) VALUES ('retention', '{"operations":90,"runs":365}');
