"""The task ``correlate``: do a model's scores of texts go along with the ratings of people?"""
